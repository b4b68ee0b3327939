// The list of surfaces of equal value. Each has an isovalue, a colour and an opacity.
let surfaces = [];          // objects with a coupled isovalue and the elements of a row
let chosen = null;          // the surface that the histogram changes

function surfaceRequests() {
  return surfaces.map(surface => ({
    iso: surface.iso.value,
    colour: surface.colour.value,
    opacity: Number(surface.opacity.value),
  }));
}

// Adds a surface to the list. The default is the first default colour that no other one has.
function addSurface({ iso, colour, opacity }) {
  const row = $('surface').content.firstElementChild.cloneNode(true);
  const find = name => row.querySelector(`.${name}`);
  const used = surfaces.map(surface => surface.colour.value);
  const free = scene.colours.find(colour => !used.includes(colour));
  const surface = { row, colour: find('colour'), opacity: find('opacity') };
  surface.iso = coupled(find('slider'), find('number'));
  surface.iso.set(iso);
  surface.colour.value = colour || free || scene.colours[surfaces.length];
  surface.opacity.value = opacity || 1;
  surface.colour.oninput = surface.opacity.oninput = () => { showSurfaces(); changed(); };
  surface.colour.onchange = surface.opacity.onchange = atRest;
  find('remove').onclick = () => { removeSurface(surface); };
  row.addEventListener('focusin', () => { choose(surface); });
  surfaces.push(surface);
  $('surfaces').append(row);
  choose(surface);
}

function removeSurface(surface) {
  surfaces = surfaces.filter(it => it !== surface);
  surface.row.remove();
  choose(surfaces[surfaces.length - 1]);
  // The element with the focus is gone.
  $('add').focus();
  atRest();
}

function choose(surface) {
  chosen = surface;
  showSurfaces();
}

function setSurfaces(list) {
  surfaces.forEach(surface => surface.row.remove());
  surfaces = [];
  list.forEach(addSurface);
}

// Shows the numbers, and the marks in the histogram.
function showSurfaces() {
  surfaces.forEach((surface, index) => {
    surface.row.setAttribute('aria-label', `surface ${index + 1}`);
    surface.row.classList.toggle('chosen', surface === chosen);
    surface.row.querySelector('output').value = `${Math.round(100 * surface.opacity.value)} %`;
    surface.row.querySelector('.remove').disabled = surfaces.length === 1;
  });
  $('add').disabled = surfaces.length === scene.colours.length;
  drawHistogram();
}

$('add').onclick = () => {
  // Halfway from the largest isovalue to the largest value.
  const largest = Math.max(...surfaces.map(surface => surface.iso.value));
  addSurface({ iso: rounded(0.5 * (largest + Math.max(largest, scene.range[1]))) });
  chosen.row.querySelector('.number').focus();
  atRest();
};
