#!/usr/bin/env python3
"""Peers `vtk`, `embree` and `embree-new`: pictures of volumes, on one CPU.

The argument names the peer. Requests and answers are those of protocol.hpp. The file of a request,
written by the harness, has one fact per line:

    raw PATH TYPE X Y Z, spacing X Y Z, pixels N, eye X Y Z, at X Y Z, up X Y Z, fov DEGREES,
    and either `iso V` or lines `point VALUE RED GREEN BLUE OPACITY`.

- `vtk` renders by vtkFixedPointVolumeRayCastMapper with a step of 0.5 voxels and shading. A surface
  is a step of the opacity.
- `embree` casts one ray per pixel at the mesh that VTK has extracted beforehand.
- `embree-new` extracts the mesh, builds the tree and casts the rays each time.

The result is the number of pixels with a part of the volume.
"""

import os
import sys
import time

import numpy as np
import vtk
from vtk.util import numpy_support

TYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "f32": np.float32}


class Job:
    """The facts of a file."""

    def __init__(self, path):
        self.points = []
        self.iso = None
        for line in open(path):
            key, *words = line.split()
            if key == "raw":
                self.raw, self.type, *size = words
                self.size = [int(word) for word in size]
            elif key == "point":
                self.points.append([float(word) for word in words])
            elif key == "pixels":
                self.pixels = int(words[0])
            elif key in ("iso", "fov"):
                setattr(self, key, float(words[0]))
            else:
                setattr(self, key, np.array([float(word) for word in words]))

    def image(self):
        voxels = np.fromfile(self.raw, dtype=TYPES[self.type])
        image = vtk.vtkImageData()
        image.SetDimensions(*self.size)
        image.SetSpacing(*self.spacing)
        image.GetPointData().SetScalars(numpy_support.numpy_to_vtk(voxels, deep=True))
        return image


class Vtk:
    """Direct rendering."""

    def __init__(self, job):
        self.job = job
        mapper = vtk.vtkFixedPointVolumeRayCastMapper()
        mapper.SetInputData(job.image())
        mapper.SetNumberOfThreads(1)
        step = 0.5 * min(job.spacing)
        mapper.SetSampleDistance(step)
        mapper.SetInteractiveSampleDistance(step)
        mapper.SetImageSampleDistance(1.0)
        mapper.SetAutoAdjustSampleDistances(0)
        mapper.LockSampleDistanceToInputSpacingOff()
        colours = vtk.vtkColorTransferFunction()
        opacities = vtk.vtkPiecewiseFunction()
        if job.iso is None:
            for value, red, green, blue, opacity in job.points:
                colours.AddRGBPoint(value, red, green, blue)
                opacities.AddPoint(value, opacity)
        else:
            colours.AddRGBPoint(job.iso, 1, 1, 1)
            opacities.AddPoint(job.iso - 1e-3, 0)
            opacities.AddPoint(job.iso, 1)
        look = vtk.vtkVolumeProperty()
        look.SetColor(colours)
        look.SetScalarOpacity(opacities)
        look.ShadeOn()
        look.SetInterpolationTypeToLinear()
        look.SetScalarOpacityUnitDistance(min(job.spacing))
        volume = vtk.vtkVolume()
        volume.SetMapper(mapper)
        volume.SetProperty(look)
        scene = vtk.vtkRenderer()
        scene.AddVolume(volume)
        self.window = vtk.vtkRenderWindow()
        self.window.SetOffScreenRendering(1)
        self.window.SetSize(job.pixels, job.pixels)
        self.window.AddRenderer(scene)
        self.camera = scene.GetActiveCamera()
        self.camera.SetFocalPoint(*job.at)
        self.camera.SetPosition(*job.eye)
        self.camera.SetViewUp(*job.up)
        self.camera.SetViewAngle(job.fov)
        scene.ResetCameraClippingRange()
        self.count = 0
        self.render()
        grabber = vtk.vtkWindowToImageFilter()
        grabber.SetInput(self.window)
        grabber.Update()
        picture = numpy_support.vtk_to_numpy(grabber.GetOutput().GetPointData().GetScalars())
        self.hits = int((picture.max(axis=1) > 0).sum())

    def render(self):
        # Without a change, the picture would be kept.
        self.count += 1
        self.camera.SetViewAngle(self.job.fov + 1e-9 * self.count)
        self.window.Render()

    def frame(self):
        self.render()
        return self.hits


class Embree:
    """Rays at a mesh, which is extracted once or for each frame."""

    def __init__(self, job, is_new):
        self.job, self.is_new = job, is_new
        self.extractor = vtk.vtkFlyingEdges3D()
        self.extractor.SetInputData(job.image())
        self.extractor.ComputeNormalsOff()
        forward = job.at - job.eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, job.up)
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        edge = job.pixels
        scale = 2 * np.tan(np.radians(job.fov) / 2) / edge
        places = (np.arange(edge) + 0.5 - edge / 2) * scale
        x, y = np.meshgrid(places, -places)
        rays = forward + x[..., None] * right + y[..., None] * up
        rays = rays.reshape(-1, 3)
        self.directions = np.ascontiguousarray(rays, dtype=np.float32)
        self.origins = np.tile(job.eye.astype(np.float32), (edge * edge, 1))
        self.count = 0
        self.prepare()

    def prepare(self):
        from embreex import rtcore_scene
        from embreex.mesh_construction import TriangleMesh

        self.count += 1
        self.extractor.SetValue(0, self.job.iso + 1e-6 * self.count)
        self.extractor.Update()
        mesh = self.extractor.GetOutput()
        points = numpy_support.vtk_to_numpy(mesh.GetPoints().GetData()).astype(np.float32)
        faces = numpy_support.vtk_to_numpy(mesh.GetPolys().GetConnectivityArray())
        faces = faces.reshape(-1, 3).astype(np.int32)
        self.scene = rtcore_scene.EmbreeScene()
        self.mesh = TriangleMesh(self.scene, points, faces)

    def frame(self):
        if self.is_new:
            self.prepare()
        found = self.scene.run(self.origins, self.directions, query="INTERSECT")
        return int((found >= 0).sum())


def main():
    kind = sys.argv[1]
    # Libraries with threads of their own stay on one CPU, like everything that they are compared to.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    vtk.vtkSMPTools.Initialize(1)
    print("ready", flush=True)
    loaded, contender = None, None
    for line in sys.stdin:
        _, _, repetitions, path = line.split(maxsplit=3)
        path = path.strip()
        try:
            if path != loaded:
                job = Job(path)
                contender = Vtk(job) if kind == "vtk" else Embree(job, kind == "embree-new")
                loaded = path
            began = time.perf_counter_ns()
            for _ in range(int(repetitions)):
                result = contender.frame()
            print(time.perf_counter_ns() - began, result, flush=True)
        except Exception as failure:
            print("error", str(failure).replace("\n", " "), flush=True)


main()
