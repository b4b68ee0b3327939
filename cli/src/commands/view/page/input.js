// Mouse, wheel and keys over the picture.

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
