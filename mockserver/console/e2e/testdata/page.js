// Functions for the tests. Chromium runs this file in each page before the scripts of the page.

let aimed; // the elements that the next click must hit; null after the hit

for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
  addEventListener(
    type,
    event => {
      if (!aimed) return;
      if (!aimed.some(e => e === event.target || e.contains(event.target))) {
        // the page moved after aim returned
        event.preventDefault();
        event.stopImmediatePropagation();
      } else if (type === 'click') aimed = null;
    },
    true,
  );
}

/** Aims the next click at an element, and returns its center. Waits until the element is visible, still, enabled and not covered. */
async function aim(find) {
  const frame = () => new Promise(requestAnimationFrame);
  for (let last = ''; ; await frame()) {
    const e = find();
    if (!e) continue;
    e.scrollIntoView({ block: 'nearest' });
    const r = e.getBoundingClientRect(),
      at = [r.x + r.width / 2, r.y + r.height / 2];
    const top = document.elementFromPoint(...at);
    const now = JSON.stringify(at);
    if (now === last && top && (e.contains(top) || top.contains(e))) {
      aimed = [e];
      if (!e.contains(top)) aimed.push(top);
      return at;
    }
    last = now;
  }
}

/** Aims the next click at the first element that contains the text. */
const spot = (kind, text) =>
  aim(() =>
    [...document.querySelectorAll(kind)].find(e => e.textContent.includes(text) && e.checkVisibility() && !e.disabled),
  );

/** Aims the next click at the check box of a row. */
const boxOf = row => aim(() => document.querySelectorAll('.rows li')[row]?.querySelector('.select'));

/** Opens a view, and waits until the page has followed the address. */
function goTo(hash) {
  const before = location.href;
  location.hash = hash;
  return new Promise(done => {
    if (location.href === before) done(true);
    else
      addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(() => done(true))), {
        once: true,
      });
  });
}

/** Chooses an option of a select, and reports whether the select has the option. */
function choose(select, value) {
  if (!select || ![...select.options].some(o => o.value === value)) return false;
  select.value = value;
  return select.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The number of rows that the elements of a selector form. */
const rowsOf = selector =>
  new Set([...document.querySelectorAll(selector)].map(e => Math.round(e.getBoundingClientRect().top))).size;

/** The number of fully visible rows. */
function rowsInView() {
  const box = document.querySelector('.rows')?.getBoundingClientRect();
  return [...document.querySelectorAll('.rows a')].filter(a => {
    const r = a.getBoundingClientRect();
    return r.top >= box.top && r.bottom <= box.bottom;
  }).length;
}

/** The position of the first fully visible row, counted from 1. */
function firstInView() {
  const top = document.querySelector('.rows').getBoundingClientRect().top;
  return Number(
    [...document.querySelectorAll('.rows li')].find(l => l.getBoundingClientRect().top >= top).ariaPosInSet,
  );
}

/** Whether the selected row is visible and its neighbors are loaded. */
function selectedInView() {
  const row = document.querySelector('.rows a[aria-current=true]'),
    box = document.querySelector('.rows')?.getBoundingClientRect(),
    r = row?.getBoundingClientRect();
  return row && r.top >= box.top && r.bottom <= box.bottom && row.closest('ul').querySelectorAll('a').length > 8;
}

let scrolled; // the list that was scrolled, until all its visible rows are loaded

/** Scrolls the list to the position that a function computes, and reports whether the visible rows are loaded. */
function scrollRows(position) {
  const box = document.querySelector('.rows'),
    b = box?.getBoundingClientRect();
  if (!box) return false; // the list is drawn again
  if (scrolled !== box) box.scrollTop = position(box);
  const seen = [...box.querySelectorAll('li')].filter(l => {
    const r = l.getBoundingClientRect();
    return r.bottom > b.top && r.top < b.bottom;
  });
  const there = scrolled === box && seen.length > 0 && seen.every(l => l.firstChild);
  scrolled = there ? null : box; // another list may have replaced it
  return there;
}

/** Presses the key j, and returns the number of new elements in the next frame. */
function pressJ() {
  return new Promise(done => {
    let added = 0;
    const observer = new MutationObserver(changes =>
      changes.forEach(c =>
        c.addedNodes.forEach(n => {
          added += 1 + (n.querySelectorAll?.('*').length ?? 0);
        }),
      ),
    );
    observer.observe(document, { childList: true, subtree: true });
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    requestAnimationFrame(() =>
      setTimeout(() => {
        observer.disconnect();
        done(added);
      }),
    );
  });
}

const loaded = new WeakMap(); // the address that each frame has loaded
document.addEventListener('load', event => loaded.set(event.target, event.target.src), true);

/** Waits until the frames of emails are loaded and painted. */
async function painted() {
  while ([...document.querySelectorAll('iframe')].some(f => loaded.get(f) !== f.src))
    await new Promise(requestAnimationFrame);
  await new Promise(done => setTimeout(done, 150)); // the frame is another process, whose first picture no event reports
  return true;
}

/** The controls in main that Tab must reach. */
function tabStops() {
  return [...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary)')].filter(
    e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && e.type !== 'radio',
  );
}

/** The controls that are smaller than 44 px or narrower than their text. */
function smallControls(within) {
  return [
    ...document.querySelectorAll(
      'button, select, summary, nav a, .rows a, a.button, .back a, .links a, label:has(input), input:not([type=radio], [type=checkbox]), textarea',
    ),
  ]
    .filter(e => e.checkVisibility() && !e.closest('.skip') && e.closest(within))
    .map(e => [e, e.getBoundingClientRect()])
    .filter(
      ([e, r]) => r.height < 43.9 || r.width < 43.9 || (e.matches('.button') && e.scrollWidth > e.clientWidth + 1),
    )
    .map(([e, r]) => Math.round(r.width) + ' × ' + Math.round(r.height) + ': ' + e.outerHTML.slice(0, 120));
}

/** What axe-core finds in the page. */
async function violations() {
  const found = await axe.run(document, { iframes: false });
  return found.violations.flatMap(v =>
    v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + (n.any[0]?.message ?? '')),
  );
}

/** Holds the next response of the path until release is called. */
function hold(path) {
  const send = window.fetch;
  window.fetch = async (url, init) => {
    const res = await send(url, init);
    if (!String(url).includes(path)) return res;
    window.fetch = send;
    await new Promise(done => {
      window.release = () => new Promise(drawn => setTimeout(drawn, 300, true, done()));
    });
    return res;
  };
  return true;
}

/** Hides and shows the page, which then reloads its list. Holds the response of the path. */
function holdReload(path) {
  hold(path);
  for (const hidden of [true, false]) {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }
  return true;
}
