// The nodes that render the pictures, if several do. A node that is taken out of the work still has
// its part of the volume for the others.
function showNodes(states, id = lastId) {
  $('nodes').hidden = !states;
  if (!states) return;
  const boxes = $('nodes').querySelectorAll('input');
  if (boxes.length !== states.length) makeNodes(states.length);
  $('nodes').querySelectorAll('input').forEach((box, index) => {
    const state = states[index], isEnded = state === 'ended';
    // A box that was changed shows the choice until a picture comes that was rendered with it.
    if (isEnded || id >= Number(box.dataset.since || 0)) box.checked = state === 'active';
    box.disabled = isEnded;
    box.parentElement.classList.toggle('ended', isEnded);
    box.parentElement.title = isEnded ? 'This node has ended.' : '';
  });
}

function makeNodes(count) {
  const labels = Array.from({ length: count }, (_, index) => {
    const label = document.createElement('label'), box = document.createElement('input');
    box.type = 'checkbox';
    // The next request has the choice.
    box.onchange = () => { box.dataset.since = lastId + 1; atRest(); };
    label.append(box, ` ${index + 1}`);
    return label;
  });
  $('nodes').replaceChildren($('nodes').firstElementChild, ...labels);
}

// Returns true for each node that is to render; undefined without nodes.
function chosenNodes() {
  if (!scene.nodes) return undefined;
  return [...$('nodes').querySelectorAll('input')].map(box => box.checked);
}
