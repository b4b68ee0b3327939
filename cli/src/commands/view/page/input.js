// Mouse, touch, wheel and keys over the picture.
const KEY_STEP = 20;        // pixels of a drag that an arrow key is equal to
const KEYS = {
  ArrowLeft: [-KEY_STEP, 0], ArrowRight: [KEY_STEP, 0], ArrowUp: [0, -KEY_STEP], ArrowDown: [0, KEY_STEP],
};
const pointers = new Map(); // the place of each pointer that is down
let moves = false;          // true if one pointer moves the content, false if it turns it

// Returns the middle of all pointers, and the distance between the first two.
function gesture() {
  const places = [...pointers.values()];
  const middle = times(places.reduce(add), 1 / places.length);
  const spread = places.length > 1 ? Math.max(1, norm(sub(places[0], places[1]))) : 1;
  return { middle, spread };
}

function release(event) {
  if (pointers.delete(event.pointerId) && pointers.size === 0) atRest();
}

picture.onpointerdown = event => {
  if (!camera) return;
  picture.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY, 0]);
  moves = event.shiftKey || event.button !== 0;
};
picture.onpointermove = event => {
  if (!pointers.has(event.pointerId)) return;
  const before = gesture();
  pointers.set(event.pointerId, [event.clientX, event.clientY, 0]);
  const after = gesture();
  const [dx, dy] = sub(after.middle, before.middle);
  if (pointers.size > 1) {
    move(dx, dy);
    zoom(Math.log(before.spread / after.spread));
  } else {
    (moves ? move : turn)(dx, dy);
  }
  changed();
};
picture.onpointerup = picture.onpointercancel = release;
picture.oncontextmenu = event => event.preventDefault();
picture.addEventListener('wheel', event => {
  event.preventDefault();
  if (!camera) return;
  // A wheel counts pixels or lines.
  zoom(0.001 * event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1));
  changed();
  restTimer = setTimeout(atRest, 150);
}, { passive: false });
picture.onkeydown = event => {
  if (!camera || event.ctrlKey || event.altKey || event.metaKey) return;
  if (KEYS[event.key]) (event.shiftKey ? move : turn)(...KEYS[event.key]);
  else if (event.key === '+' || event.key === '=') zoom(-0.1);
  else if (event.key === '-') zoom(0.1);
  else return;
  event.preventDefault();
  changed();
  restTimer = setTimeout(atRest, 150);
};
