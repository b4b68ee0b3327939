// The camera, and the ways to move it.

// Vectors of three numbers.
const add = (a, b) => a.map((x, i) => x + b[i]);
const sub = (a, b) => a.map((x, i) => x - b[i]);
const times = (a, s) => a.map(x => x * s);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = a => Math.sqrt(dot(a, a));
const unit = a => times(a, 1 / (norm(a) || 1));
// Turns a vector about a unit vector (Rodrigues' formula).
const turned = (v, axis, angle) => {
  const c = Math.cos(angle), s = Math.sin(angle);
  return add(add(times(v, c), times(cross(axis, v), s)), times(axis, dot(axis, v) * (1 - c)));
};

// The vertical field of view in degrees: in a picture that is taller than wide, the camera's own is
// the horizontal one, so that nothing is cut off.
function shownFov() {
  const taller = picture.height / picture.width;
  if (taller <= 1) return camera.fov;
  return Math.min(170, 360 / Math.PI * Math.atan(taller * Math.tan(camera.fov * Math.PI / 360)));
}

function turn(dx, dy) {
  const scale = Math.PI / Math.max(200, picture.clientHeight);
  let offset = turned(sub(camera.eye, camera.at), camera.up, -dx * scale);
  const side = unit(cross(camera.up, offset));
  const tilted = turned(offset, side, -dy * scale);
  // The view must not be along the direction that is up.
  if (Math.abs(dot(unit(tilted), camera.up)) < 0.999) offset = tilted;
  camera.eye = add(camera.at, offset);
}

function move(dx, dy) {
  const sight = sub(camera.at, camera.eye);
  const side = unit(cross(sight, camera.up));
  const upwards = unit(cross(side, sight));
  const pixel = 2 * norm(sight) * Math.tan(shownFov() * Math.PI / 360) / picture.clientHeight;
  const step = add(times(side, -dx * pixel), times(upwards, dy * pixel));
  camera.eye = add(camera.eye, step);
  camera.at = add(camera.at, step);
}

function zoom(amount) {
  const offset = times(sub(camera.eye, camera.at), Math.exp(amount));
  const size = norm(sub(scene.box[1], scene.box[0]));
  if (norm(offset) > 1e-3 * size && norm(offset) < 100 * size) camera.eye = add(camera.at, offset);
}
