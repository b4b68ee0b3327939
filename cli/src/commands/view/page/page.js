'use strict';

// The state of the page: the scene from the server, the camera, and what is in flight.
const $ = id => document.getElementById(id);
const picture = $('picture');
const painter = picture.getContext('2d');
let scene = null;
let socket = null;
let camera = null;          // eye, at: points; up: unit vector; fov: degrees
let lastId = 0;             // of the newest request
let shownId = 0;            // of the newest picture that is shown
let fineId = 0;             // of the newest fine picture
let frames = [];            // times of the last pictures, for the rate
let command = '';
let drag = null;
let waiting = false;        // true between a change and the request for it
let restTimer = 0;

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

function mode() {
  if (scene.content === 'mesh') return 'mesh';
  return document.querySelector('input[name=mode]:checked').value;
}

function clip() {
  return [0, 1, 2].map(axis => ['low', 'high'].map(end => Number($(`clip-${axis}-${end}`).value)));
}

// The description of the picture that the controls ask for.
function request(want, moving) {
  return {
    id: ++lastId, want, moving,
    size: [picture.width, picture.height],
    mode: mode(),
    iso: Number($('iso-number').value),
    shadows: $('shadows').checked,
    preset: $('preset').value || null,
    threshold: Number($('threshold-number').value),
    opacity: Math.fround(10 ** Number($('opacity').value)),
    eye: camera.eye, at: camera.at, fov: camera.fov,
    clip: clip(),
  };
}

function send(want, moving) {
  if (!scene || !camera || socket.readyState !== WebSocket.OPEN) return 0;
  const message = request(want, moving);
  socket.send(JSON.stringify(message));
  return message.id;
}

// Asks for a picture, at most once for each frame of the display.
function changed(moving = true) {
  clearTimeout(restTimer);
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      send('frame', moving);
    });
  }
}

function atRest() {
  changed(false);
}

// Lets a canvas have as many pixels as it has on the screen.
function resize() {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.min(4096, Math.round(ratio * picture.clientWidth)));
  const height = Math.max(1, Math.min(4096, Math.round(ratio * picture.clientHeight)));
  if (picture.width !== width || picture.height !== height) {
    picture.width = width;
    picture.height = height;
    atRest();
  }
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
  const pixel = 2 * norm(sight) * Math.tan(camera.fov * Math.PI / 360) / picture.clientHeight;
  const step = add(times(side, -dx * pixel), times(upwards, dy * pixel));
  camera.eye = add(camera.eye, step);
  camera.at = add(camera.at, step);
}

function zoom(amount) {
  const offset = times(sub(camera.eye, camera.at), Math.exp(amount));
  const size = norm(sub(scene.box[1], scene.box[0]));
  if (norm(offset) > 1e-3 * size && norm(offset) < 100 * size) camera.eye = add(camera.at, offset);
}

function reset() {
  camera = { eye: [...scene.eye], at: [...scene.at], up: unit(scene.up), fov: scene.fov };
  atRest();
}

function drawHistogram() {
  const canvas = $('histogram'), context = canvas.getContext('2d');
  const counts = scene.histogram, most = Math.log1p(Math.max(...counts));
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#6a8caf';
  counts.forEach((count, bin) => {
    const height = most > 0 ? Math.log1p(count) / most * canvas.height : 0;
    context.fillRect(bin * canvas.width / counts.length, canvas.height - height, canvas.width / counts.length, height);
  });
  const [low, high] = scene.range;
  const value = Number($(mode() === 'surface' ? 'iso-number' : 'threshold-number').value);
  context.fillStyle = '#d0432f';
  context.fillRect((value - low) / (high - low || 1) * canvas.width - 1, 0, 2, canvas.height);
}

// Lets a slider and a field for a number have the same value.
function couple(id, value) {
  const [low, high] = scene.range, slider = $(id), field = $(`${id}-number`);
  slider.min = low;
  slider.max = high;
  slider.step = 'any';
  slider.value = value;
  field.value = value;
  const round = number => Number(number.toPrecision(5));
  slider.oninput = () => { field.value = round(Number(slider.value)); drawHistogram(); changed(); };
  slider.onchange = atRest;
  field.oninput = () => { slider.value = field.value; drawHistogram(); atRest(); };
}

function showMode() {
  const isSurface = mode() === 'surface';
  document.querySelector('.surface').hidden = !isSurface;
  document.querySelector('.transfer').hidden = isSurface;
  drawHistogram();
}

function begin(description) {
  scene = description;
  document.title = `${scene.name} · Raddle`;
  $('name').textContent = scene.name;
  $('details').textContent = scene.details;
  const isVolume = scene.content === 'volume';
  document.querySelectorAll('.volume').forEach(part => { part.hidden = !isVolume; });
  if (isVolume) {
    couple('iso', scene.threshold);
    couple('threshold', scene.threshold);
    $('preset').replaceChildren(new Option('default', ''), ...scene.presets.map(it => new Option(`${it.name}: ${it.about}`, it.name)));
    showMode();
  }
  $('message').textContent = '';
  reset();
  resize();
}

async function show(header, bytes) {
  if (header.id < shownId) return;
  shownId = header.id;
  if (!header.coarse) fineId = header.id;
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
  // Meanwhile, a newer picture may have come, or the fine one.
  if (header.id < shownId || (header.coarse && header.id === fineId)) return;
  painter.imageSmoothingEnabled = true;
  painter.drawImage(bitmap, 0, 0, picture.width, picture.height);
  bitmap.close();
  command = header.command;
  $('command').textContent = command;
  $('message').textContent = '';
  const now = performance.now();
  frames = frames.filter(time => now - time < 1000);
  frames.push(now);
  const rate = header.coarse ? `, ${frames.length} pictures/s` : '';
  $('status').textContent = `${header.size[0]} × ${header.size[1]}, ${header.ms.toFixed(0)} ms${rate}`;
  // For programs that watch the page.
  picture.dataset.id = header.id;
  picture.dataset.coarse = header.coarse;
  picture.dataset.count = Number(picture.dataset.count || 0) + 1;
}

function save(header, bytes) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
  link.download = `${scene.name.replace(/\.[^.]*$/, '')}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function connect() {
  const token = new URLSearchParams(location.search).get('token');
  socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = event => {
    if (typeof event.data === 'string') {
      begin(JSON.parse(event.data));
      return;
    }
    const length = new DataView(event.data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(event.data, 4, length)));
    const bytes = new Uint8Array(event.data, 4 + length);
    if (header.kind === 'frame') show(header, bytes);
    else if (header.kind === 'png') save(header, bytes);
    else $('message').textContent = header.message;
  };
  socket.onclose = () => { $('message').textContent = 'The view has ended. Start it again and reload the page.'; };
}

picture.onpointerdown = event => {
  picture.setPointerCapture(event.pointerId);
  drag = { x: event.clientX, y: event.clientY, moves: event.shiftKey || event.button !== 0 };
};
picture.onpointermove = event => {
  if (!drag || !camera) return;
  const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
  if (dx === 0 && dy === 0) return;
  (drag.moves ? move : turn)(dx, dy);
  drag.x = event.clientX;
  drag.y = event.clientY;
  changed();
};
picture.onpointerup = picture.onpointercancel = () => {
  if (drag && camera) atRest();
  drag = null;
};
picture.oncontextmenu = event => event.preventDefault();
picture.addEventListener('wheel', event => {
  event.preventDefault();
  if (!camera) return;
  zoom(0.001 * event.deltaY * (event.deltaMode === 1 ? 30 : 1));
  changed();
  restTimer = setTimeout(atRest, 150);
}, { passive: false });
picture.onkeydown = event => {
  const step = 20, keys = {
    ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
  };
  if (!camera) return;
  if (keys[event.key]) (event.shiftKey ? move : turn)(...keys[event.key]);
  else if (event.key === '+' || event.key === '=') zoom(-0.1);
  else if (event.key === '-') zoom(0.1);
  else return;
  event.preventDefault();
  changed();
  restTimer = setTimeout(atRest, 150);
};

for (const [axis, name] of ['x', 'y', 'z'].entries()) {
  const row = document.createElement('div');
  row.append(name);
  for (const [end, value] of [['low', 0], ['high', 1]]) {
    const slider = Object.assign(document.createElement('input'), {
      id: `clip-${axis}-${end}`, type: 'range', min: 0, max: 1, step: 0.005, value,
    });
    slider.setAttribute('aria-label', `${name}, ${end} end`);
    slider.oninput = () => {
      // The two planes of an axis must not pass each other.
      const other = $(`clip-${axis}-${end === 'low' ? 'high' : 'low'}`);
      if (Number($(`clip-${axis}-low`).value) >= Number($(`clip-${axis}-high`).value)) {
        slider.value = Number(other.value) + (end === 'low' ? -0.005 : 0.005);
      }
      changed();
    };
    slider.onchange = atRest;
    row.append(slider);
  }
  $('clip').append(row);
}
document.querySelectorAll('input[name=mode]').forEach(input => { input.onchange = () => { showMode(); atRest(); }; });
$('shadows').onchange = $('preset').onchange = atRest;
$('opacity').oninput = () => { $('opacity-number').value = (10 ** Number($('opacity').value)).toPrecision(3); changed(); };
$('opacity').onchange = atRest;
$('histogram').onclick = event => {
  const [low, high] = scene.range;
  const field = $(mode() === 'surface' ? 'iso-number' : 'threshold-number');
  field.value = Number((low + event.offsetX / $('histogram').clientWidth * (high - low)).toPrecision(5));
  field.oninput();
};
$('reset').onclick = reset;
$('save').onclick = () => { send('png', false); };
$('show-command').onclick = () => {
  $('command').hidden = !$('command').hidden;
  $('show-command').setAttribute('aria-expanded', String(!$('command').hidden));
};
new ResizeObserver(resize).observe(picture);
connect();
