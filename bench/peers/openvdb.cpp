// Peer `openvdb`: a surface of a volume by LevelSetRayIntersector, one ray per pixel, one thread.
//
// The file of a request is that of volumes.py. The level set is built before the clock starts; each
// new isovalue would need another one. The result is the number of pixels with a hit.
#include <openvdb/openvdb.h>
#include <openvdb/tools/Dense.h>
#include <openvdb/tools/LevelSetRebuild.h>
#include <openvdb/tools/RayIntersector.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <vector>

#include "protocol.hpp"

using Grid = openvdb::FloatGrid;
using Vector = openvdb::Vec3d;

// The facts of a file.
struct Job {
    std::string raw, type;
    int size[3] = {0, 0, 0};
    int pixels = 0;
    double iso = 0, fov = 0;
    Vector spacing{1, 1, 1}, eye, at, up;

    explicit Job(const std::string &path) {
        std::ifstream input(path);
        if (!input) throw std::runtime_error("cannot open " + path);
        std::string key;
        while (input >> key) {
            if (key == "raw") input >> raw >> type >> size[0] >> size[1] >> size[2];
            else if (key == "pixels") input >> pixels;
            else if (key == "iso") input >> iso;
            else if (key == "fov") input >> fov;
            else {
                Vector vector;
                input >> vector[0] >> vector[1] >> vector[2];
                if (key == "spacing") spacing = vector;
                if (key == "eye") eye = vector;
                if (key == "at") at = vector;
                if (key == "up") up = vector;
            }
        }
    }
};

template <class Voxel>
static std::vector<float> read_as(const Job &job) {
    const std::size_t count = std::size_t(job.size[0]) * job.size[1] * job.size[2];
    std::vector<Voxel> voxels(count);
    std::ifstream input(job.raw, std::ios::binary);
    if (!input.read(reinterpret_cast<char *>(voxels.data()), count * sizeof(Voxel))) {
        throw std::runtime_error("cannot read " + job.raw);
    }
    std::vector<float> values(count);
    // Inside is negative.
    for (std::size_t i = 0; i < count; ++i) values[i] = float(job.iso - double(voxels[i]));
    return values;
}

static std::vector<float> read(const Job &job) {
    if (job.type == "u8") return read_as<std::uint8_t>(job);
    if (job.type == "u16") return read_as<std::uint16_t>(job);
    if (job.type == "i16") return read_as<std::int16_t>(job);
    throw std::runtime_error("type " + job.type);
}

// A surface and its camera.
class World {
public:
    explicit World(const Job &job) : job_(job) {
        std::vector<float> values = read(job);
        const openvdb::CoordBBox box(0, 0, 0, job.size[0] - 1, job.size[1] - 1, job.size[2] - 1);
        openvdb::tools::Dense<float, openvdb::tools::LayoutXYZ> dense(box, values.data());
        const Grid::Ptr whole = Grid::create(float(std::abs(job.iso) + 1));
        openvdb::tools::copyFromDense(dense, *whole, 0.0f, true);
        const auto map = openvdb::math::Transform::createLinearTransform(1.0);
        map->preScale(job.spacing);
        if (job.spacing[0] == job.spacing[1] && job.spacing[1] == job.spacing[2]) {
            whole->setTransform(map);
        } else {
            // A level set has cubes: distances are in voxels, and rays are scaled instead.
            scale_ = job.spacing;
        }
        grid_ = openvdb::tools::levelSetRebuild(*whole, 0.0f, 3.0f);
        intersector_ = std::make_unique<openvdb::tools::LevelSetRayIntersector<Grid>>(*grid_);
    }

    std::uint64_t frame() const {
        Vector forward = job_.at - job_.eye;
        forward.normalize();
        Vector right = forward.cross(job_.up);
        right.normalize();
        const Vector up = right.cross(forward);
        const double pixel = 2 * std::tan(job_.fov * M_PI / 360) / job_.pixels;
        std::uint64_t hits = 0;
        float light = 0;
        // A copy has its own cache of the grid.
        openvdb::tools::LevelSetRayIntersector<Grid> intersector(*intersector_);
        for (int y = 0; y < job_.pixels; ++y) {
            for (int x = 0; x < job_.pixels; ++x) {
                const double u = (x + 0.5 - job_.pixels * 0.5) * pixel;
                const double v = (job_.pixels * 0.5 - y - 0.5) * pixel;
                Vector direction = (forward + u * right + v * up) / scale_;
                direction.normalize();
                const openvdb::math::Ray<double> ray(job_.eye / scale_, direction);
                Vector point, normal;
                if (intersector.intersectsWS(ray, point, normal)) {
                    ++hits;
                    light += float(std::abs(normal.dot(direction)));
                }
            }
        }
        // The light is used, so that the normals are computed.
        return light >= 0 ? hits : 0;
    }

private:
    Job job_;
    Vector scale_{1, 1, 1};
    Grid::Ptr grid_;
    std::unique_ptr<openvdb::tools::LevelSetRayIntersector<Grid>> intersector_;
};

int main() {
    openvdb::initialize();
    std::string loaded;
    std::unique_ptr<World> world;
    return peer::serve([&](const peer::Request &request) {
        if (request.file != loaded || !world) {
            world = std::make_unique<World>(Job(request.file));
            loaded = request.file;
        }
        return peer::timed([&] {
            std::uint64_t result = 0;
            for (std::uint64_t i = 0; i < request.repetitions; ++i) result = world->frame();
            return result;
        });
    });
}
