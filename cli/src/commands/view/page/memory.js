// The values of the page survive a reload. They belong to one view: another one has another token.
const MEMORY = `raddle view ${token}`;
const CHECKS = ['shadows', 'smooth'];
const VALUES = ['preset', 'opacity', 'samples', ...CLIP_ENDS.map(([axis, end]) => `clip-${axis}-${end}`)];

// A browser may refuse to store anything. Then a reload begins with the values at the start.
function stored(access) {
  try {
    return access(sessionStorage);
  } catch {
    return null;
  }
}

function remember() {
  if (!scene) return;
  const state = {
    camera, mode: mode(), surfaces: surfaceRequests(),
    threshold: threshold && threshold.value,
    checks: CHECKS.map(id => $(id).checked),
    values: VALUES.map(id => $(id).value),
  };
  stored(storage => storage.setItem(MEMORY, JSON.stringify(state)));
}

function recall() {
  const state = JSON.parse(stored(storage => storage.getItem(MEMORY)));
  if (!state) return;
  camera = state.camera;
  CHECKS.forEach((id, index) => { $(id).checked = state.checks[index]; });
  VALUES.forEach((id, index) => { $(id).value = state.values[index]; });
  showClip();
  if (scene.content === 'volume') {
    document.querySelector(`input[value=${state.mode}]`).checked = true;
    setSurfaces(state.surfaces);
    threshold.set(state.threshold);
    showMode();
  }
}

window.addEventListener('pagehide', remember);
