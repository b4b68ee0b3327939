'use strict';

// The state of the page: the scene from the server, the camera, and what is in flight.
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.search).get('token') || '';
const picture = $('picture');
const painter = picture.getContext('2d');
let scene = null;
let camera = null;          // eye, at: points; up: unit vector; fov: degrees
let lastId = 0;             // of the newest request
let shownId = 0;            // of the newest picture that is shown
let fineId = 0;             // of the newest fine picture
let frames = [];            // times of the last pictures, for the rate
let command = '';
let waiting = false;        // true between a change and the request for it
let restTimer = 0;

// The description of the picture that the controls ask for.
function request(want, moving) {
  return {
    want, moving,
    size: [picture.width, picture.height],
    samples: Number($('samples').value),
    mode: mode(),
    surfaces: surfaceRequests(),
    shadows: $('shadows').checked,
    smooth: $('smooth').checked,
    preset: $('preset').value || null,
    threshold: threshold ? threshold.value : 0,
    opacity: opacity(),
    eye: camera.eye, at: camera.at, fov: shownFov(),
    clip: clip(),
    nodes: chosenNodes(),
  };
}

function send(want, moving) {
  if (!scene || link !== 'open') return;
  const message = { id: ++lastId, ...request(want, moving) };
  socket.send(JSON.stringify(message));
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

// Lets a canvas have as many pixels as it has on the screen. This removes the picture, so it waits
// while no other one can come.
function resize() {
  if (link !== 'open') return;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.min(4096, Math.round(ratio * picture.clientWidth)));
  const height = Math.max(1, Math.min(4096, Math.round(ratio * picture.clientHeight)));
  if (picture.width !== width || picture.height !== height) {
    picture.width = width;
    picture.height = height;
    atRest();
  }
}

function begin(description) {
  scene = description;
  document.title = `${scene.name} · Raddle`;
  $('name').textContent = scene.name;
  $('details').textContent = scene.details;
  showControls();
  showNodes(scene.nodes);
  reset();
  recall();
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
  showNodes(header.nodes, header.id);
  command = header.command;
  $('command').textContent = command;
  $('message').textContent = header.empty ? 'Nothing is visible with these values.' : '';
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
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
  anchor.download = `${scene.name.replace(/\.[^.]*$/, '')}.png`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}
