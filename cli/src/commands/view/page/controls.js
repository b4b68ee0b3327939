// The controls beside the picture.
const CLIP_STEP = 0.005;
const CLIP_ENDS = [0, 1, 2].flatMap(axis => ['low', 'high'].map(end => [axis, end]));
let threshold = null;       // between background and object, coupled

function mode() {
  if (scene.content === 'mesh') return 'mesh';
  return document.querySelector('input[name=mode]:checked').value;
}

function clip() {
  return [0, 1, 2].map(axis => ['low', 'high'].map(end => Number($(`clip-${axis}-${end}`).value)));
}

function opacity() {
  return Math.fround(10 ** Number($('opacity').value));
}

// Rounds a value to five digits, or to as many as differ within the range.
function rounded(value) {
  const [low, high] = scene.range;
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const equal = high > low ? Math.ceil(Math.log10(largest / (high - low))) : 0;
  return Number(value.toPrecision(Math.min(5 + equal, 17)));
}

// Couples a slider and a field, which show one value in the range of the volume. The field may
// also have a value outside of it.
function coupled(slider, field) {
  [slider.min, slider.max] = scene.range;
  slider.step = 'any';
  const it = {
    value: 0,
    set(value) {
      it.value = value;
      slider.value = value;
      field.value = value;
      drawHistogram();
    },
  };
  slider.oninput = () => { it.set(rounded(Number(slider.value))); changed(); };
  slider.onchange = atRest;
  // A field that was emptied shows the value that still counts.
  field.onchange = () => { field.value = it.value; };
  field.oninput = () => {
    // An unfinished number is none.
    if (!Number.isFinite(field.valueAsNumber)) return;
    it.value = field.valueAsNumber;
    slider.value = it.value;
    drawHistogram();
    atRest();
  };
  return it;
}

// Sets up the controls for the content.
function showControls() {
  const isVolume = scene.content === 'volume';
  document.querySelectorAll('.volume').forEach(part => { part.hidden = !isVolume; });
  if (!isVolume) return;
  $('range').replaceChildren(...scene.range.map(value => {
    const end = document.createElement('span');
    end.textContent = rounded(value);
    return end;
  }));
  for (const choice of document.querySelectorAll('input[name=mode]')) {
    choice.parentElement.hidden = Boolean(scene.modes) && !scene.modes.includes(choice.value);
  }
  threshold = coupled($('threshold'), $('threshold-number'));
  const presets = scene.presets.map(it => new Option(it.name));
  $('preset').replaceChildren(new Option('default', ''), ...presets);
  showMode();
}

function showMode() {
  const isSurface = mode() === 'surface';
  document.querySelector('.surface').hidden = !isSurface;
  document.querySelector('.transfer').hidden = isSurface;
  showTransfer();
}

// Sets everything but the mode to the values at the start.
function reset() {
  camera = { eye: [...scene.eye], at: [...scene.at], up: unit(scene.up), fov: scene.fov };
  for (const slider of document.querySelectorAll('#clip input')) slider.value = slider.defaultValue;
  showClip();
  $('samples').value = 1;
  if (scene.content === 'volume') {
    setSurfaces([{ iso: scene.threshold }]);
    threshold.set(scene.threshold);
    $('shadows').checked = $('smooth').checked = false;
    $('preset').value = '';
    $('opacity').value = 0;
    showTransfer();
  }
  atRest();
}

// Returns the chosen preset; undefined for the default of the mode.
function preset() {
  return scene.presets.find(it => it.name === $('preset').value);
}

// Returns true if the threshold has an effect.
function hasThreshold() {
  return preset() ? preset().threshold : mode() === 'direct';
}

// Shows the factor for opacities, a description of the preset, and the threshold if there is one.
function showTransfer() {
  $('opacity-number').value = opacity().toPrecision(3);
  $('about').textContent = preset() ? preset().about : '';
  $('threshold').disabled = $('threshold-number').disabled = !hasThreshold();
  drawHistogram();
}

// Draws the histogram and a mark for each value that the picture depends on.
function drawHistogram() {
  const canvas = $('histogram'), context = canvas.getContext('2d');
  const counts = scene.histogram, most = Math.log1p(Math.max(...counts));
  const width = canvas.width / counts.length;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#6a8caf';
  counts.forEach((count, bin) => {
    const height = most > 0 ? Math.log1p(count) / most * canvas.height : 0;
    context.fillRect(bin * width, canvas.height - height, width, height);
  });
  const [low, high] = scene.range;
  const mark = (value, colour, thickness) => {
    context.fillStyle = colour;
    const place = (value - low) / (high - low || 1) * canvas.width;
    context.fillRect(place - thickness / 2, 0, thickness, canvas.height);
  };
  if (mode() === 'surface') {
    for (const it of surfaces) mark(it.iso.value, it.colour.value, it === chosen ? 4 : 2);
  } else if (hasThreshold()) {
    mark(threshold.value, '#d0432f', 3);
  }
}

// Sets the value at a place in the histogram.
function setFromHistogram(event) {
  if (mode() !== 'surface' && !hasThreshold()) return;
  const share = Math.min(1, Math.max(0, event.offsetX / $('histogram').clientWidth));
  const [low, high] = scene.range;
  const value = mode() === 'surface' ? chosen.iso : threshold;
  value.set(rounded(low + share * (high - low)));
  changed();
}

// Keeps the two planes of an axis from passing each other.
function restrictClip(axis, end) {
  const slider = $(`clip-${axis}-${end}`), [low, high] = clip()[axis];
  if (low < high) return;
  slider.value = end === 'low' ? high - CLIP_STEP : low + CLIP_STEP;
}

// Shows the planes of each axis, in the coordinates of the file.
function showClip() {
  clip().forEach((shares, axis) => {
    const [low, high] = scene.box.map(corner => corner[axis] + scene.offset[axis]);
    const decimals = Math.min(10, Math.max(0, 3 - Math.floor(Math.log10(high - low || 1))));
    const planes = shares.map(share => (low + share * (high - low)).toFixed(decimals));
    $(`clip-${axis}`).value = planes.join(' to ');
  });
}

for (const [axis, name] of ['x', 'y', 'z'].entries()) {
  const row = document.createElement('div');
  row.append(name);
  for (const [end, value] of [['low', 0], ['high', 1]]) {
    const slider = document.createElement('input');
    const attributes = {
      id: `clip-${axis}-${end}`, type: 'range', min: 0, max: 1, step: CLIP_STEP, value,
      'aria-label': `${name}, ${end} end`,
    };
    Object.entries(attributes).forEach(attribute => slider.setAttribute(...attribute));
    slider.oninput = () => { restrictClip(axis, end); showClip(); changed(); };
    slider.onchange = atRest;
    row.append(slider);
  }
  const planes = document.createElement('output');
  planes.id = `clip-${axis}`;
  row.append(planes);
  $('clip').append(row);
}
for (const choice of document.querySelectorAll('input[name=mode]')) {
  choice.onchange = () => { showMode(); atRest(); };
}
$('shadows').onchange = $('smooth').onchange = $('samples').onchange = atRest;
$('preset').onchange = () => { showTransfer(); atRest(); };
$('opacity').oninput = () => { showTransfer(); changed(); };
$('opacity').onchange = atRest;
$('histogram').onpointerdown = event => {
  $('histogram').setPointerCapture(event.pointerId);
  setFromHistogram(event);
};
$('histogram').onpointermove = event => {
  if ($('histogram').hasPointerCapture(event.pointerId)) setFromHistogram(event);
};
$('histogram').onpointerup = $('histogram').onpointercancel = atRest;
$('reset').onclick = reset;
$('save').onclick = () => { send('png', false); };
$('show-command').onclick = () => {
  $('command').hidden = !$('command').hidden;
  $('show-command').setAttribute('aria-expanded', String(!$('command').hidden));
};
