"use strict";
// The page of an explanation. Text of the run only ever becomes text nodes: nothing here makes markup from a string.
// Lines are numbered twice: from 1 within their stream, as everywhere else, and `g` from 0 through all streams.
(() => {
  const ROW = 20; // px, as in the style sheet
  const TALLEST = 12e6; // px; browsers draw nothing beyond some 16 million
  const FOLD_FROM = 4; // lines
  const ROW_TEXT = 2000, LINE_TEXT = 50000; // characters shown in a row, and of the selected line
  const ON_PAPER = 4000; // lines printed
  const ANSI = /\x1b(?:\[[0-?]*[ -\/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])/g;
  const ODD = /\x1b(?:\[[0-?]*[ -\/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])|[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
  const DOUBTFUL = new Set(["unclassified", "unclassified_binary", "contested_test", "abnormal_warning"]);
  const ENDED = new Set(["fatal_error", "timeout"]);

  const $ = (id) => document.getElementById(id);
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const amount = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

  // -- the run

  const data = JSON.parse($("run-data").textContent);
  const rules = data.rules; // [dialect, kind, fate, rule, failure or -1]
  const failures = data.failures; // [stream index, line] or null
  const lines = [];
  const bases = [];
  for (const stream of data.streams) {
    bases.push(lines.length);
    const texts = stream.text.split("\n");
    for (let i = 0; i < stream.line_count; i++) lines.push(texts[i]);
    stream.text = null;
  }
  const spanCount = data.streams.reduce((sum, stream) => sum + stream.spans.length / 2, 0);
  const spanFirst = new Int32Array(spanCount + 1); // g
  const spanRule = new Int32Array(spanCount);
  const streamSpans = []; // where each stream's spans begin
  {
    let at = 0;
    data.streams.forEach((stream, s) => {
      streamSpans.push(at);
      let first = bases[s];
      for (let i = 0; i < stream.spans.length; i += 2) {
        spanFirst[at] = first;
        spanRule[at++] = stream.spans[i + 1];
        first = bases[s] + stream.spans[i];
      }
    });
    streamSpans.push(at);
    spanFirst[at] = lines.length;
  }
  // The last place in a sorted array whose value is not above the one looked for.
  const floor = (sorted, length, wanted) => {
    let low = 0, high = length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (sorted[middle] <= wanted) low = middle; else high = middle - 1;
    }
    return low;
  };
  const spanOf = (g) => floor(spanFirst, spanCount, g);
  const streamOf = (g) => {
    let s = data.streams.length - 1;
    while (s > 0 && (bases[s] > g || data.streams[s].line_count === 0)) s--;
    return s;
  };
  const place = (g) => { const s = streamOf(g); return { stream: data.streams[s].name, line: g - bases[s] + 1 }; };

  const look = rules.map(([dialect, kind, fate, rule, failure]) => {
    const bad = failure >= 0 || ENDED.has(kind);
    const doubt = !bad && DOUBTFUL.has(kind);
    const head = kind === "failed_test" || kind === "process_failure" || ENDED.has(kind);
    const sign = fate === "suppressed" ? "·" : fate === "referenced" ? "↪" : bad ? (head ? "✖" : "│") : doubt ? "?" : "●";
    const classes = ["row", fate, bad ? "failing" : "", doubt ? "doubt" : "", head ? "head" : ""].filter(Boolean).join(" ");
    return { dialect, kind, fate, rule, failure, bad, doubt, sign, classes };
  });

  // -- what is shown: rows are lines (g), folds (-2 - 2 * span) or heads of streams (-1 - 2 * stream)

  const hiddenFates = new Set(), hiddenKinds = new Set(), unfolded = new Set();
  let folding = true, rows = new Int32Array(0), rowCount = 0, shownLines = 0;
  const foldLast = new Map(); // first span of a fold -> its last span

  const isShown = (rule) => !hiddenFates.has(look[rule].fate) && !hiddenKinds.has(look[rule].kind);

  function arrange() {
    rows = new Int32Array(lines.length + spanCount + data.streams.length);
    rowCount = shownLines = 0;
    foldLast.clear();
    const shown = look.map((_, rule) => isShown(rule));
    data.streams.forEach((_, s) => {
      rows[rowCount++] = -1 - 2 * s;
      for (let span = streamSpans[s]; span < streamSpans[s + 1]; span++) {
        if (!shown[spanRule[span]]) continue;
        let last = span;
        if (look[spanRule[span]].fate === "suppressed") {
          for (let next = span + 1; next < streamSpans[s + 1]; next++) {
            if (look[spanRule[next]].fate !== "suppressed") break;
            if (shown[spanRule[next]]) last = next;
          }
        }
        let count = 0;
        for (let each = span; each <= last; each++) if (shown[spanRule[each]]) count += spanFirst[each + 1] - spanFirst[each];
        shownLines += count;
        const suppressed = look[spanRule[span]].fate === "suppressed";
        if (suppressed && folding && count >= FOLD_FROM) {
          rows[rowCount++] = -2 - 2 * span;
          foldLast.set(span, last);
          if (!unfolded.has(span)) { span = last; continue; }
        }
        for (let each = span; each <= last; each++) {
          if (shown[spanRule[each]]) for (let g = spanFirst[each]; g < spanFirst[each + 1]; g++) rows[rowCount++] = g;
        }
        span = last;
      }
    });
    $("shown").textContent = shownLines === lines.length ? amount(lines.length, "line") : `${number(shownLines)} of ${amount(lines.length, "line")}`;
    $("space").style.height = `${Math.min(rowCount * ROW, TALLEST)}px`;
    drawn = -1;
    draw();
  }

  // Rows are in source order, so a row's first line can be looked for by halving.
  const rowStart = (row) => {
    const code = rows[row];
    if (code >= 0) return code;
    return code & 1 ? bases[(-1 - code) / 2] - 0.5 : spanFirst[(-2 - code) / 2] - 0.25;
  };
  function rowOf(g) {
    let low = 0, high = rowCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (rowStart(middle) <= g) low = middle; else high = middle - 1;
    }
    return low;
  }

  // -- drawing

  const log = $("log"), rowsBox = $("rows"), space = $("space");
  let drawn = -1, waiting = false, chosen = -1, widest = 0;
  const scaled = () => rowCount * ROW > TALLEST;
  const visible = () => Math.max(1, Math.floor(log.clientHeight / ROW));
  const scrollRange = () => Math.max(1, Math.min(rowCount * ROW, TALLEST) - log.clientHeight);
  function topRow() {
    if (!scaled()) return Math.floor(log.scrollTop / ROW);
    return Math.round((log.scrollTop / scrollRange()) * (rowCount - visible()));
  }
  function scrollToRow(row) {
    const top = Math.max(0, Math.min(row, rowCount - visible()));
    log.scrollTop = scaled() ? (top / Math.max(1, rowCount - visible())) * scrollRange() : top * ROW;
    drawn = -1;
    draw();
  }
  function draw() {
    const top = Math.max(0, topRow());
    if (top === drawn) return;
    drawn = top;
    const first = scaled() ? top : Math.max(0, top - 10);
    const last = Math.min(rowCount, top + visible() + (scaled() ? 2 : 12));
    const made = document.createDocumentFragment();
    for (let row = first; row < last; row++) made.append(rowElement(row));
    rowsBox.replaceChildren(made);
    rowsBox.style.top = `${scaled() ? log.scrollTop : first * ROW}px`;
    if (rowsBox.offsetWidth > widest) {
      widest = rowsBox.offsetWidth;
      space.style.width = `${widest}px`;
    }
    if (chosen >= 0 && $(`row-${chosen}`)) log.setAttribute("aria-activedescendant", `row-${chosen}`);
    else log.removeAttribute("aria-activedescendant");
  }
  log.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }, { passive: true });
  new ResizeObserver(() => { drawn = -1; draw(); }).observe(log);

  function rowElement(row) {
    const code = rows[row];
    const made = code >= 0 ? lineElement(code, row) : code & 1 ? streamElement((-1 - code) / 2) : foldElement((-2 - code) / 2);
    made.id = `row-${row}`;
    made.setAttribute("role", "option");
    made.setAttribute("aria-posinset", row + 1);
    made.setAttribute("aria-setsize", rowCount);
    made.setAttribute("aria-selected", row === chosen);
    if (row === chosen) made.classList.add("chosen");
    return made;
  }
  function streamElement(s) {
    const stream = data.streams[s];
    const made = element("div", "row stream");
    made.append(element("span", "text", `${stream.name}: ${amount(stream.line_count, "line")}, ${amount(stream.byte_count, "byte")}`));
    return made;
  }
  function foldCounts(first) {
    const counts = new Map();
    for (let span = first; span <= foldLast.get(first); span++) {
      const { kind } = look[spanRule[span]];
      if (isShown(spanRule[span])) counts.set(kind, (counts.get(kind) || 0) + spanFirst[span + 1] - spanFirst[span]);
    }
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }
  function foldWords(first) {
    const counts = foldCounts(first);
    const sum = counts.reduce((all, [, n]) => all + n, 0);
    return `${amount(sum, "line")} suppressed: ${counts.map(([kind, n]) => (counts.length > 1 ? `${kind} ${number(n)}` : kind)).join(", ")}`;
  }
  function foldElement(first) {
    const made = element("div", "row fold suppressed");
    const open = unfolded.has(first);
    made.append(element("span", "fate", open ? "▾" : "▸"), element("span", "at", place(spanFirst[first]).line));
    made.append(element("span", "text", `${foldWords(first)}${open ? "" : " — show"}`));
    made.dataset.fold = first;
    made.setAttribute("aria-label", `${foldWords(first)}, ${open ? "shown below" : "folded"}`);
    return made;
  }
  function lineElement(g, row) {
    const span = spanOf(g), seen = look[spanRule[span]];
    const made = element("div", seen.classes);
    const sign = element("span", "fate", seen.sign);
    sign.setAttribute("aria-hidden", "true");
    const kind = element("span", "kind", spanFirst[span] === g || row === drawn ? seen.kind : "");
    const text = element("span", "text");
    write(text, lines[g], ROW_TEXT);
    made.append(sign, element("span", "at", place(g).line), kind, element("span", "hidden", `${seen.fate}, ${seen.kind}: `), text);
    made.title = `${seen.fate} · ${seen.kind} · ${seen.rule}`;
    return made;
  }

  // Text with what cannot be seen made visible, and what is searched for marked.
  function write(into, text, most) {
    const whole = text.length;
    const shown = whole > most ? text.slice(0, most) : text;
    let at = 0;
    const odd = new RegExp(ODD);
    for (let found = odd.exec(shown); found; found = odd.exec(shown)) {
      plain(into, shown.slice(at, found.index));
      into.append(oddElement(found[0]));
      at = found.index + found[0].length;
    }
    plain(into, shown.slice(at));
    if (whole > most) into.append(element("span", "more", ` … ${amount(whole - most, "more character")}`));
  }
  function oddElement(text) {
    const code = text.codePointAt(0);
    const hex = code.toString(16).padStart(code < 256 ? 2 : 4, "0");
    const known = { 7: "BEL", 8: "BS", 10: "LF", 13: "CR", 27: "ESC", 0: "NUL" };
    if (/^\x1b\[[0-9;:]*m$/.test(text)) {
      const colour = element("span", "sign-char colour"); // so many that they may not take the text's place
      colour.title = `escape sequence ${JSON.stringify(text).slice(1, -1)}`;
      return colour;
    }
    const made = element("span", "sign-char", text.length > 2 ? "ESC" : known[code] || (code < 256 ? `x${hex}` : `U+${hex}`));
    made.title = text.length > 2 ? `escape sequence ${JSON.stringify(text).slice(1, -1)}` : `U+${hex.padStart(4, "0").toUpperCase()}`;
    return made;
  }
  function plain(into, text) {
    if (!pattern || !text) { if (text) into.append(text); return; }
    let at = 0;
    for (const found of text.matchAll(pattern)) {
      if (found.index > at) into.append(text.slice(at, found.index));
      into.append(element("mark", "", found[0]));
      at = found.index + found[0].length;
    }
    if (at < text.length) into.append(text.slice(at));
  }

  // -- the selected line

  function choose(row, scroll) {
    chosen = row;
    if (scroll) {
      const top = topRow();
      if (row < top || row >= top + visible() - 1) scrollToRow(row - (scroll === "near" ? (row < top ? 0 : visible() - 2) : Math.floor(visible() / 3)));
    }
    drawn = -1;
    draw();
    describe(row);
  }
  const hint = $("line").firstElementChild;
  function describe(row) {
    if (row < 0) { $("line").replaceChildren(hint); return; }
    const box = $("line"), code = rows[row];
    const about = element("p", "about");
    if (code < 0) {
      about.textContent = code & 1 ? `The stream ${data.streams[(-1 - code) / 2].name}.` : foldWords((-2 - code) / 2);
      box.replaceChildren(about);
      return;
    }
    const seen = look[spanRule[spanOf(code)]], where = place(code);
    about.append(element("b", "", `${where.stream} ${number(where.line)}`), ` · ${seen.fate} · `, element("b", "", seen.kind));
    about.append(` · ${seen.rule}`);
    if (seen.failure >= 0) about.append(` · failure ${number(seen.failure + 1)}`);
    const text = element("pre");
    write(text, lines[code], LINE_TEXT);
    if (!lines[code]) text.append(element("span", "more", "an empty line"));
    box.replaceChildren(about, text);
  }
  function toggle(first) {
    const rowBefore = chosen;
    if (unfolded.has(first)) unfolded.delete(first); else unfolded.add(first);
    arrange();
    choose(Math.min(rowBefore, rowCount - 1));
  }
  log.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row || String(getSelection())) return;
    choose(Number(row.id.slice(4)));
    if (row.dataset.fold !== undefined) toggle(Number(row.dataset.fold));
  });
  log.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: visible() - 1, PageUp: 1 - visible(), Home: -rowCount, End: rowCount }[event.key];
    const here = chosen < 0 ? topRow() - (move > 0 ? 1 : 0) : chosen;
    if (move && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(Math.max(0, Math.min(rowCount - 1, here + move)), "near");
    } else if ((event.key === "Enter" || event.key === " ") && chosen >= 0 && rows[chosen] < 0 && !(rows[chosen] & 1)) {
      event.preventDefault();
      toggle((-2 - rows[chosen]) / 2);
    }
  });

  // -- going to a line

  function reveal(g) {
    const rule = spanRule[spanOf(g)];
    if (!isShown(rule)) {
      hiddenFates.delete(look[rule].fate);
      hiddenKinds.delete(look[rule].kind);
      showChoices();
      arrange();
    }
    const row = rowOf(g);
    if (rows[row] < 0 && !(rows[row] & 1)) {
      unfolded.add((-2 - rows[row]) / 2);
      arrange();
    }
    choose(rowOf(g), "far");
  }
  function goTo(stream, line) {
    const s = data.streams.findIndex((one) => one.name === stream);
    if (s >= 0 && line >= 1 && line <= data.streams[s].line_count) { reveal(bases[s] + line - 1); return true; }
    return false;
  }
  const say = (text) => { $("said").textContent = text; };

  let failure = -1;
  function goToFailure(index) {
    if (!failures.length) { say("No failure is named."); return; }
    failure = (index + failures.length) % failures.length;
    for (const one of document.querySelectorAll(".failures [aria-current]")) one.removeAttribute("aria-current");
    const item = document.querySelector(`.failures [data-failure="${failure}"]`);
    if (item) {
      item.setAttribute("aria-current", "true");
      const list = item.closest("ol"), box = item.getBoundingClientRect(), around = list.getBoundingClientRect();
      if (box.top < around.top || box.bottom > around.bottom) list.scrollTop += box.top - around.top - around.height / 3;
    }
    const where = failures[failure];
    if (where) goTo(data.streams[where[0]].name, where[1]);
    say(`Failure ${failure + 1} of ${failures.length}${item ? `: ${item.querySelector(".name").textContent}` : ""}`);
  }
  document.querySelector(".side").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { failure: index, stream, line, only, kinds, copy } = button.dataset;
    if (index !== undefined) goToFailure(Number(index));
    else if (line !== undefined) goTo(stream, Number(line));
    else if (only !== undefined) showOnly(button.dataset.group, only);
    else if (kinds !== undefined) showKinds(kinds.split(" "));
    else if (copy !== undefined) copyText(button, copy);
    if ((index !== undefined || line !== undefined || kinds !== undefined) && innerWidth <= 860) $("log").scrollIntoView();
  });

  // -- filters

  const boxes = [...document.querySelectorAll("#filters input[data-group]")];
  const hiddenOf = (group) => (group === "fate" ? hiddenFates : hiddenKinds);
  function showChoices() {
    for (const box of boxes) box.checked = !hiddenOf(box.dataset.group).has(box.value);
  }
  function rearrange() {
    const g = chosen >= 0 && rows[chosen] >= 0 ? rows[chosen] : rowCount ? Math.max(0, Math.ceil(rowStart(Math.min(topRow(), rowCount - 1)))) : 0;
    const stays = chosen >= 0 && rows[chosen] === g;
    arrange();
    const row = rowCount ? rowOf(g) : -1;
    chosen = stays && rows[row] === g ? row : -1;
    describe(chosen);
    scrollToRow(row - Math.floor(visible() / 3));
    find(false);
  }
  function showOnly(group, value) {
    const hidden = hiddenOf(group);
    hidden.clear();
    for (const box of boxes) if (box.dataset.group === group && box.value !== value) hidden.add(box.value);
    showChoices();
    rearrange();
  }
  function showKinds(kinds) {
    hiddenFates.clear();
    hiddenKinds.clear();
    for (const box of boxes) if (box.dataset.group === "kind" && !kinds.includes(box.value)) hiddenKinds.add(box.value);
    showChoices();
    rearrange();
  }
  for (const box of boxes) {
    box.addEventListener("change", () => {
      if (box.checked) hiddenOf(box.dataset.group).delete(box.value); else hiddenOf(box.dataset.group).add(box.value);
      rearrange();
    });
  }
  $("everything").addEventListener("click", () => { hiddenFates.clear(); hiddenKinds.clear(); showChoices(); rearrange(); });
  $("fold").addEventListener("change", () => { folding = $("fold").checked; unfolded.clear(); rearrange(); });

  // -- search: letters of either case, in the text without escape sequences

  let pattern = null, matches = [], match = -1;
  function find(go) {
    const words = $("search").value;
    pattern = words ? new RegExp(words.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&"), "giu") : null;
    matches = [];
    match = -1;
    if (pattern) {
      const test = new RegExp(pattern.source, "iu");
      for (let span = 0; span < spanCount; span++) {
        if (!isShown(spanRule[span])) continue;
        for (let g = spanFirst[span]; g < spanFirst[span + 1]; g++) {
          const text = lines[g];
          if (test.test(text.indexOf("\x1b") < 0 ? text : text.replace(ANSI, ""))) matches.push(g);
        }
      }
    }
    $("matches").textContent = pattern ? (matches.length ? amount(matches.length, "line") : "no line") : "";
    drawn = -1;
    draw();
    if (go && matches.length) goToMatch(matches.findIndex((g) => g >= Math.ceil(rowStart(Math.max(0, topRow())))));
  }
  function goToMatch(index) {
    if (!matches.length) return;
    match = (index + matches.length) % matches.length;
    reveal(matches[match]);
    $("matches").textContent = `${number(match + 1)} of ${amount(matches.length, "line")}`;
  }
  let typing = 0;
  $("search").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => find(true), 150); });
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(typing);
      if (!pattern || match < 0) find(true); else goToMatch(match + (event.shiftKey ? -1 : 1));
    } else if (event.key === "Escape") { $("search").value = ""; find(false); log.focus(); }
  });
  $("match-next").addEventListener("click", () => goToMatch(match + 1));
  $("match-previous").addEventListener("click", () => goToMatch(match < 0 ? -1 : match - 1));

  document.addEventListener("keydown", (event) => {
    const typingNow = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (typingNow || event.ctrlKey || event.metaKey || event.altKey) return;
    const deed = {
      j: () => goToFailure(failure + 1), k: () => goToFailure(failure < 0 ? -1 : failure - 1),
      n: () => goToMatch(match + 1), N: () => goToMatch(match < 0 ? -1 : match - 1), "/": () => { $("search").focus(); $("search").select(); },
    }[event.key];
    if (deed) { event.preventDefault(); deed(); }
  });

  // -- copying

  async function copyText(button, text) {
    let done = false;
    try { await navigator.clipboard.writeText(text); done = true; } catch {
      const area = element("textarea");
      area.value = text;
      button.after(area);
      area.select();
      try { done = document.execCommand("copy"); } catch { done = false; }
      area.remove();
      button.focus();
    }
    say(done ? "Copied." : "Not copied: the browser does not allow it.");
    const before = button.textContent;
    button.textContent = done ? "copied" : "not copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  // -- the map: where kept lines stand in what is shown

  function drawMap() {
    const SVG = "http://www.w3.org/2000/svg", parts = 400;
    const strongest = new Uint8Array(parts); // 1 kept, 2 referenced, 3 doubt, 4 failing
    for (let span = 0; span < spanCount; span++) {
      const seen = look[spanRule[span]];
      const weight = seen.fate === "suppressed" ? 0 : seen.bad ? 4 : seen.doubt ? 3 : seen.fate === "referenced" ? 2 : 1;
      if (!weight) continue;
      const to = Math.floor(((spanFirst[span + 1] - 1) * parts) / lines.length);
      for (let part = Math.floor((spanFirst[span] * parts) / lines.length); part <= to; part++) strongest[part] = Math.max(strongest[part], weight);
    }
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", `0 0 10 ${parts}`);
    picture.setAttribute("preserveAspectRatio", "none");
    picture.setAttribute("shape-rendering", "crispEdges");
    for (let part = 0, next; part < parts; part = next) {
      next = part + 1;
      while (next < parts && strongest[next] === strongest[part]) next++;
      if (!strongest[part]) continue;
      const mark = document.createElementNS(SVG, "rect");
      const wide = strongest[part] > 2, height = Math.max(next - part, strongest[part] > 3 ? 2 : 1);
      for (const [name, value] of Object.entries({ x: wide ? 0 : 3, y: part, width: wide ? 10 : 4, height })) mark.setAttribute(name, value);
      mark.setAttribute("class", ["", "kept", "referenced", "doubt", "failing"][strongest[part]]);
      picture.append(mark);
    }
    $("map").replaceChildren(picture);
  }
  $("map").addEventListener("click", (event) => {
    const box = $("map").getBoundingClientRect();
    const g = Math.min(lines.length - 1, Math.floor(((event.clientY - box.top) / box.height) * lines.length));
    if (g >= 0) scrollToRow(rowOf(g) - Math.floor(visible() / 2));
  });

  // -- paper: what is kept or referenced, and how much was suppressed between

  addEventListener("beforeprint", () => {
    const paper = document.createDocumentFragment();
    let printed = 0;
    data.streams.forEach((stream, s) => {
      paper.append(element("h2", "", `${stream.name}: ${amount(stream.line_count, "line")}, ${amount(stream.byte_count, "byte")}`));
      let skipped = 0;
      const flush = () => { if (skipped) paper.append(element("p", "suppressed", `          · ${amount(skipped, "line")} suppressed`)); skipped = 0; };
      for (let span = streamSpans[s]; span < streamSpans[s + 1] && printed < ON_PAPER; span++) {
        const seen = look[spanRule[span]];
        if (seen.fate === "suppressed") { skipped += spanFirst[span + 1] - spanFirst[span]; continue; }
        flush();
        for (let g = spanFirst[span]; g < spanFirst[span + 1] && printed < ON_PAPER; g++, printed++) {
          const line = element("p", seen.fate, `${seen.sign} ${String(g - bases[s] + 1).padStart(8)}  `);
          write(line, lines[g], ROW_TEXT);
          paper.append(line);
        }
      }
      flush();
    });
    if (printed >= ON_PAPER) paper.append(element("p", "", `The first ${amount(ON_PAPER, "line")} that are kept or referenced; the rest is not printed.`));
    $("paper").replaceChildren(paper);
  });
  addEventListener("afterprint", () => $("paper").replaceChildren());

  // -- #stdout:12 names a line

  function follow() {
    const found = /^#([a-z]+):([0-9]{1,9})$/.exec(location.hash);
    return found !== null && goTo(found[1], Number(found[2]));
  }
  addEventListener("hashchange", follow);

  const digits = Math.max(3, ...data.streams.map((stream) => String(stream.line_count).length));
  log.style.setProperty("--digits", digits);
  arrange();
  drawMap();
  if (!follow() && failures.length) goToFailure(0);
})();
