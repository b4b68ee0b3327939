// The controls beside the picture.

function mode() {
  if (scene.content === 'mesh') return 'mesh';
  return document.querySelector('input[name=mode]:checked').value;
}

function clip() {
  return [0, 1, 2].map(axis => ['low', 'high'].map(end => Number($(`clip-${axis}-${end}`).value)));
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
