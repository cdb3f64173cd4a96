// What the page does beyond links and forms: search as you type, changes as they happen, keys, and moving the graph.
"use strict";
const base = document.body.dataset.base;
const main = document.getElementById("main");
const box = document.getElementById("q");

async function load(address, signal) {
  const answer = await fetch(address, { signal, headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

document.querySelector(".top [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

// Search: the answers replace those on the page, or open below the field.
let asking, pause, panel;
function closePanel() {
  panel?.remove();
  panel = undefined;
}
async function ask() {
  asking?.abort();
  const query = box.value.trim();
  const here = location.pathname === `${base}/search` ? document.getElementById("results") : null;
  if (!query && !here) return closePanel();
  asking = new AbortController();
  const address = new URL(`${base}/search`, location);
  if (here) for (const [name, value] of new URLSearchParams(location.search)) address.searchParams.set(name, value);
  address.searchParams.set("q", query);
  try {
    const read = await load(address, asking.signal);
    const results = document.adoptNode(read.getElementById("results"));
    if (here) {
      here.replaceWith(results);
      document.title = read.title;
      history.replaceState(null, "", address);
      return;
    }
    if (document.activeElement !== box && !panel?.contains(document.activeElement)) return;
    closePanel();
    panel = document.createElement("div");
    panel.className = "panel";
    panel.append(results);
    box.form.append(panel);
  } catch (error) {
    if (error.name !== "AbortError") say("The answers could not be loaded: the server may have stopped.");
  }
}
box.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(ask, 120);
});
document.addEventListener("focusin", (event) => {
  if (panel && !box.form.contains(event.target)) closePanel();
});
document.addEventListener("click", (event) => {
  if (panel && !box.form.contains(event.target)) closePanel();
});
box.form.addEventListener("keydown", (event) => {
  const links = panel ? [...panel.querySelectorAll("h2 a")] : [];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape" && panel) {
    closePanel();
    box.focus();
  } else if (event.key === "ArrowDown" && links.length) {
    links[Math.min(at + 1, links.length - 1)].focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    (links[at - 1] ?? box).focus();
  } else return;
  event.preventDefault();
});

// Changes as they happen.
const live = document.getElementById("live");
function say(words, link, linked) {
  const line = document.createElement("p");
  line.append(words);
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.textContent = linked;
    line.append(" ", anchor);
  }
  live.replaceChildren(line);
  setTimeout(() => line.remove(), 8000);
}
const form = document.querySelector("form[data-guard]");
let isDirty = false;
async function refresh() {
  if (form || main.contains(document.activeElement?.closest("form")) || document.querySelector("[data-graph].moved")) return;
  const old = new Set([...main.querySelectorAll("p, li, tr, h2, pre")].map((part) => part.textContent));
  const open = main.querySelector("#days")?.checked;
  const branches = new Set([...main.querySelectorAll("details[open]")].map((part) => part.dataset.branch));
  const focused = document.activeElement?.getAttribute?.("href");
  const read = await load(location.href).catch(() => null);
  const fresh = read?.getElementById("main");
  if (!fresh) return;
  main.replaceChildren(...document.adoptNode(fresh).childNodes);
  for (const part of main.querySelectorAll(".text p, .text li, .timeline li, .plain li, .tree li, .lines tr, .entries li")) {
    if (!old.has(part.textContent) && !part.querySelector("li")) part.classList.add("fresh");
  }
  for (const part of main.querySelectorAll("details[data-branch]")) part.open = branches.has(part.dataset.branch);
  if (open && main.querySelector("#days")) main.querySelector("#days").checked = true;
  if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  graph();
}
let waiting;
function listen() {
  const events = new EventSource(`${base}/live`);
  events.addEventListener("change", (event) => {
    const change = JSON.parse(event.data);
    const pages = change.pages.slice(0, 2).join(", ") + (change.pages.length > 2 ? ", …" : "");
    const words = form && change.pages.includes(form.dataset.page) ? "This page has changed while you edit it." : `${change.kind}${change.who && ` by ${change.who}`}: ${pages || change.summary}.`;
    say(words, `${base}/history/${change.id}`, "What changed");
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 150);
  });
  addEventListener("pagehide", () => events.close());
}
addEventListener("pageshow", (event) => event.persisted && listen());
listen();

// Editing: nothing typed is lost by leaving.
form?.addEventListener("input", () => { isDirty = true; });
form?.addEventListener("submit", () => { isDirty = false; });
addEventListener("beforeunload", (event) => isDirty && event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

// Keys.
const views = { p: "", g: "graph", h: "history", n: "entries", t: "traces", "?": "help" };
const off = document.getElementById("keys-off");
if (off) {
  off.checked = localStorage.getItem("keys") === "off";
  off.addEventListener("change", () => localStorage.setItem("keys", off.checked ? "off" : "on"));
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("keys") === "off") return;
  if (event.key === "/") box.focus();
  else if (event.key === "d") document.getElementById("days")?.click();
  else if (event.key === "e") document.getElementById("edit")?.click();
  else if (event.key in views && !event.target.closest("[data-graph]")) location.assign(`${base}/${views[event.key]}`);
  else return;
  event.preventDefault();
});

// The graph: drag, wheel, keys and buttons move it; pointing at a page shows its links.
function graph() {
  const frame = document.querySelector("[data-graph]:not(.moves)");
  if (!frame) return;
  const svg = frame.querySelector("svg");
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  frame.classList.add("moves");
  frame.style.height = `${Math.min(all.width * 1.2, Math.max(frame.clientWidth, innerHeight * 0.7))}px`;
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Picture of the pages; the list below says the same");
  const zoom = (by, x = whole.x + whole.width / 2, y = whole.y + whole.height / 2) => {
    const width = Math.min(Math.max(whole.width * by, 150), all.width * 1.5);
    const scale = width / whole.width;
    Object.assign(whole, { x: x - (x - whole.x) * scale, y: y - (y - whole.y) * scale, width, height: whole.height * scale });
    frame.classList.add("moved");
  };
  const move = (x, y) => {
    whole.x += x * whole.width;
    whole.y += y * whole.width;
    frame.classList.add("moved");
  };
  const fit = () => {
    Object.assign(whole, all);
    const scale = Math.min(frame.clientWidth, frame.clientHeight) / all.width;
    if (scale < 0.6) zoom(scale / 0.75); // else no name could be read
    frame.classList.remove("moved");
  };
  const buttons = document.createElement("div");
  buttons.className = "zoom";
  for (const [sign, name, act] of [["+", "Zoom in", () => zoom(0.75)], ["−", "Zoom out", () => zoom(1.33)], ["⤢", "Show all", () => Object.assign(whole, all)]]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: sign, title: name, onclick: act });
    button.setAttribute("aria-label", name);
    buttons.append(button);
  }
  frame.append(buttons);
  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls; with Ctrl, or two fingers, the graph zooms
    event.preventDefault();
    const at = place(event);
    zoom(event.deltaY < 0 ? 0.87 : 1.15, at.x, at.y);
  }, { passive: false });
  let held = null;
  let isDrag = false;
  svg.addEventListener("pointerdown", (event) => { held = event.button ? null : place(event); isDrag = false; });
  addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const at = place(event);
    if (Math.hypot(at.x - held.x, at.y - held.y) > whole.width / 200) isDrag = true;
    if (isDrag) {
      whole.x += held.x - at.x;
      whole.y += held.y - at.y;
      frame.classList.add("moved");
    }
  });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => isDrag && event.preventDefault(), true);
  const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
  frame.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(0.75);
    else if (event.key === "-") zoom(1.33);
    else if (event.key === "0") Object.assign(whole, all);
    else if (event.key in steps) move(...steps[event.key]);
    else return;
    event.preventDefault();
  });
  const dots = [...svg.querySelectorAll(".dot")];
  const stems = [...svg.querySelectorAll(".stems path")].map((path, place) => [path, path.dataset.a, place + 1]);
  const links = [...svg.querySelectorAll(".links path")].map((path) => [path, path.dataset.a, path.dataset.b]);
  const light = (dot) => {
    svg.classList.toggle("lit", Boolean(dot));
    for (const on of svg.querySelectorAll(".on")) on.classList.remove("on");
    if (!dot) return;
    dot.classList.add("on");
    for (const [path, a, b] of [...stems, ...links]) {
      if (dots[a] === dot || dots[b] === dot) for (const part of [path, dots[a], dots[b]]) part.classList.add("on");
    }
  };
  svg.addEventListener("pointerover", (event) => light(event.target.closest(".dot")));
  svg.addEventListener("pointerleave", () => light(null));
  fit();
}
graph();
