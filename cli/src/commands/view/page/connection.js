// The connection to the server. When it is lost, the page keeps its picture and tries again, as
// long as it is visible.
const DELAY_MIN = 1000;     // milliseconds before the first attempt; each further one waits longer
const DELAY_MAX = 10000;
const LOST = 'raddle view has ended or cannot be reached. Trying to connect again.';
const REFUSED = 'This address is no longer valid. Open the address that the new raddle view has printed.';
let socket = null;
let link = 'connecting';    // connecting, open, lost, or refused: the server has another token
let delay = DELAY_MIN;      // before the next attempt
let delayTimer = 0;

function connect() {
  link = 'connecting';
  socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = event => {
    if (typeof event.data === 'string') connected(JSON.parse(event.data));
    else receive(event.data);
  };
  socket.onclose = lost;
}

function connected(description) {
  link = 'open';
  delay = DELAY_MIN;
  showLink('');
  if (!scene) begin(description);
  // After a lost connection, the page goes on with the values that it has.
  resize();
  atRest();
}

// Handles a message: the length of a header, the header, and a picture.
function receive(data) {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const bytes = new Uint8Array(data, 4 + length);
  if (header.kind === 'frame') show(header, bytes);
  else if (header.kind === 'png') save(header, bytes);
  else $('message').textContent = header.message;
}

function lost() {
  link = 'lost';
  showLink(LOST);
  if (document.hidden) return;
  delayTimer = setTimeout(reconnect, delay);
  delay = Math.min(1.5 * delay, DELAY_MAX);
}

// A socket that is refused has no status, so the page is requested first.
async function reconnect() {
  link = 'connecting';
  const page = fetch(location.pathname + location.search, { method: 'HEAD', cache: 'no-store' });
  const status = await page.then(reply => reply.status, () => 0);
  if (status === 200) connect();
  else if (status === 403) refused();
  else lost();
}

function refused() {
  link = 'refused';
  showLink(REFUSED);
}

function showLink(message) {
  const isOpen = link === 'open';
  $('message').textContent = message;
  document.body.classList.toggle('lost', !isOpen);
  $('save').disabled = !isOpen;
}

document.addEventListener('visibilitychange', () => {
  if (link !== 'lost') return;
  clearTimeout(delayTimer);
  delay = DELAY_MIN;
  if (!document.hidden) reconnect();
});

// Another screen may have more pixels for the same page.
function watchRatio() {
  resize();
  const same = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  same.addEventListener('change', watchRatio, { once: true });
}

new ResizeObserver(resize).observe(picture);
watchRatio();
connect();
