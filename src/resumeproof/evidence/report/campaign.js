// The map of a campaign: a grid of every scenario, of which only what can be seen is in the page.
(() => {
  "use strict";

  const source = document.getElementById("campaign-data");
  const host = document.getElementById("map");
  if (!source || !host) return;
  const data = JSON.parse(source.textContent);
  const panel = document.getElementById("scenario");
  const VERDICTS = ["passed", "failed", "invalid"];
  const SIGNS = { failed: "\u00d7", invalid: "?" };
  const LINE = 28; // pixels; also the least that a finger hits
  const CELL = 28;
  const BEYOND = 6; // lines that are drawn above and below what can be seen

  // -- what there is ------------------------------------------------------------------------

  // Every scenario in the order of the map: proof by proof, boundary by boundary.
  function laidOut() {
    const groups = [];
    const all = [];
    data.proofs.forEach((proof, number) => {
      const rows = new Map();
      for (const text of proof.passed) rows.set(text.slice(0, text.lastIndexOf("#")), []);
      proof.scenarios.forEach((scenario, place) => {
        const plan = scenario[0];
        const points = plan.split(";");
        const hash = points[0].lastIndexOf("#");
        const row = points[0].slice(0, hash);
        if (!rows.has(row)) rows.set(row, []);
        rows.get(row).push({
          proof: number, place, plan, row, deep: points.length - 1,
          verdict: VERDICTS[scenario[1]], occurrence: points[0].slice(hash + 1),
        });
      });
      const filled = [...rows].filter(([, items]) => items.length);
      groups.push({ proof: number, rows: filled });
      for (const [, items] of filled) all.push(...items);
    });
    all.forEach((item, index) => { item.index = index; });
    return { groups, all };
  }

  const { groups, all } = laidOut();
  const scenes = new Map();
  const sceneOf = (item) => {
    if (!scenes.has(item)) {
      scenes.set(item, campaignPicture.told(data.proofs[item.proof].scenarios[item.place]));
    }
    return scenes.get(item);
  };
  const counts = Object.fromEntries(VERDICTS.map((name) => [name, 0]));
  for (const item of all) counts[item.verdict] += 1;

  // -- making elements ----------------------------------------------------------------------

  function make(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  // Signs and badges are those of the whole report.
  const badges = document.getElementById("badges").content.children;
  const badge = (verdict) => badges[VERDICTS.indexOf(verdict)].cloneNode(true);
  const square = (verdict) => make("span", { class: `square ${verdict}`, "aria-hidden": "true" }, SIGNS[verdict] || "");

  // -- the map ------------------------------------------------------------------------------

  const chosen = { verdict: "all", text: "" };
  let lines = [];
  let active = null; // the scenario that the keyboard is at
  let opened = null;
  const drawn = new Map();

  const viewport = make("div", { class: "viewport" });
  const grid = make("div", { role: "grid", class: "grid", "aria-label": "Crash points" });
  const empty = make("p", { class: "lead empty", hidden: "" }, "No scenario is like that.");
  viewport.append(grid);

  function isShown(item) {
    if (chosen.verdict !== "all" && item.verdict !== chosen.verdict) return false;
    if (!chosen.text) return true;
    return `${item.plan} ${data.proofs[item.proof].name}`.toLowerCase().includes(chosen.text);
  }

  function layLines() {
    const wide = viewport.clientWidth;
    const label = wide < 640 ? 112 : 168;
    grid.style.setProperty("--label", `${label}px`);
    const columns = Math.max(1, Math.floor((wide - label - 4) / CELL));
    const laid = [];
    for (const group of groups) {
      const rows = group.rows.map(([name, items]) => [name, items.filter(isShown)])
        .filter(([, items]) => items.length);
      if (rows.length && data.proofs.length > 1) laid.push({ group });
      for (const [name, items] of rows) {
        for (let from = 0; from < items.length; from += columns) {
          laid.push({ name: from ? "" : name, of: name, items: items.slice(from, from + columns) });
        }
      }
    }
    lines = laid;
    lines.forEach((line, number) => (line.items || []).forEach((item) => { item.line = number; }));
    const shown = lines.flatMap((line) => line.items || []);
    if (!shown.includes(active)) active = shown.includes(opened) ? opened : shown[0] || null;
    grid.setAttribute("aria-rowcount", lines.length);
    grid.setAttribute("aria-colcount", columns + 1);
    grid.style.height = `${lines.length * LINE}px`;
    empty.hidden = lines.length > 0;
    host.dataset.shown = shown.length;
    drawn.forEach((row) => row.remove());
    drawn.clear();
    drawVisible();
  }

  function drawVisible() {
    const first = Math.max(0, Math.floor(viewport.scrollTop / LINE) - BEYOND);
    const last = Math.min(lines.length, Math.ceil((viewport.scrollTop + viewport.clientHeight) / LINE) + BEYOND);
    const wanted = new Set();
    for (let number = first; number < last; number++) wanted.add(number);
    // Where the keyboard is must stay in the page, or the focus would be lost.
    if (active) wanted.add(active.line);
    for (const [number, row] of drawn) {
      if (!wanted.has(number)) {
        row.remove();
        drawn.delete(number);
      }
    }
    for (const number of [...wanted].sort((one, other) => one - other)) {
      if (drawn.has(number)) continue;
      const row = drawLine(lines[number], number);
      drawn.set(number, row);
      const after = [...drawn.keys()].filter((each) => each > number);
      grid.insertBefore(row, after.length ? drawn.get(Math.min(...after)) : null);
    }
  }

  function drawLine(line, number) {
    const row = make("div", { role: "row", class: "line", "aria-rowindex": number + 1 });
    row.style.top = `${number * LINE}px`;
    if (line.group) {
      const proof = data.proofs[line.group.proof];
      row.classList.add("group");
      row.append(make("div", { role: "rowheader", class: "name", title: proof.name }, proof.name));
      return row;
    }
    const header = make("div", { role: "rowheader", class: "label" }, line.name);
    if (!line.name) header.setAttribute("aria-label", line.of);
    row.append(header);
    line.items.forEach((item, column) => row.append(drawCell(item, column)));
    return row;
  }

  function drawCell(item, column) {
    const told = SIGNS[item.verdict] || (item.deep ? "" : item.occurrence);
    const cell = make("div", {
      role: "gridcell", class: `cell ${item.verdict}${item.deep ? " deep" : ""}`,
      tabindex: item === active ? "0" : "-1", "aria-colindex": column + 2, "data-index": item.index,
      "aria-label": `${campaignPicture.placeOf(sceneOf(item))}: ${item.verdict}`,
      "aria-selected": String(item === opened),
    }, make("span", { "aria-hidden": "true" }, told));
    return cell;
  }

  const cellOf = (item) => grid.querySelector(`[data-index="${item.index}"]`);

  function moveTo(item, focus) {
    const before = active && cellOf(active);
    if (before) before.tabIndex = -1;
    active = item;
    const top = item.line * LINE;
    if (top < viewport.scrollTop) viewport.scrollTop = top - LINE;
    const below = top + LINE - viewport.clientHeight;
    if (below > viewport.scrollTop) viewport.scrollTop = below + LINE;
    drawVisible();
    const cell = cellOf(item);
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
  }

  function above(line, step) {
    for (let number = line + step; number >= 0 && number < lines.length; number += step) {
      if (lines[number].items) return number;
    }
    return line;
  }

  const KEYS = {
    ArrowRight: (line, column) => neighbour(line, column, 1),
    ArrowLeft: (line, column) => neighbour(line, column, -1),
    ArrowDown: (line, column) => nearest(above(line, 1), column),
    ArrowUp: (line, column) => nearest(above(line, -1), column),
    PageDown: (line, column) => nearest(page(line, 1), column),
    PageUp: (line, column) => nearest(page(line, -1), column),
    Home: (line, column, far) => nearest(far ? above(-1, 1) : line, 0),
    End: (line, column, far) => nearest(far ? above(lines.length, -1) : line, Infinity),
  };

  function nearest(line, column) {
    const items = lines[line].items;
    return items[Math.min(column, items.length - 1)];
  }

  function neighbour(line, column, step) {
    const items = lines[line].items;
    if (items[column + step]) return items[column + step];
    const other = above(line, step);
    return other === line ? items[column] : nearest(other, step > 0 ? 0 : Infinity);
  }

  function page(line, sense) {
    let reached = line;
    for (let count = 0; count < 10; count++) reached = above(reached, sense);
    return reached;
  }

  grid.addEventListener("keydown", (event) => {
    if (!active || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(active);
      panel.querySelector("h3").focus();
      return;
    }
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    const column = lines[active.line].items.indexOf(active);
    moveTo(move(active.line, column, event.ctrlKey), true);
    open(active);
  });

  grid.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    moveTo(all[Number(cell.dataset.index)], true);
    open(active);
  });

  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && active) moveTo(active, true);
  });

  // -- one scenario -------------------------------------------------------------------------

  function open(item) {
    const before = opened && cellOf(opened);
    if (before) before.setAttribute("aria-selected", "false");
    opened = item;
    const cell = cellOf(item);
    if (cell) cell.setAttribute("aria-selected", "true");
    const proof = data.proofs[item.proof];
    const scene = sceneOf(item);
    const heading = make("h3", { tabindex: "-1", id: "scenario-heading" },
      `Crash ${campaignPicture.placeOf(scene)}`);
    panel.replaceChildren(
      make("div", { class: "head" }, heading, badge(item.verdict)),
      ...told(item, proof, scene),
      make("figure", { id: "scene" }),
      facts(proof, scene),
      make("p", { class: "steps" }, step(item, -1, "Previous"), step(item, 1, "Next")),
    );
    panel.dataset.plan = item.plan;
    panel.dataset.proof = item.proof;
    drawScene();
    history.replaceState(null, "", `#${item.proof}/${encodeURIComponent(item.plan)}`);
  }

  function drawScene() {
    const figure = document.getElementById("scene");
    if (!figure || !opened) return;
    const proof = data.proofs[opened.proof];
    figure.replaceChildren(
      campaignPicture.draw(proof, sceneOf(opened), data.texts, data.marks, figure.clientWidth));
  }

  function told(item, proof, scene) {
    const parts = [];
    if (data.proofs.length > 1) parts.push(make("p", { class: "lead" }, proof.name));
    if (scene.note >= 0) parts.push(make("p", {}, data.texts[scene.note]));
    if (scene.invalid >= 0) {
      parts.push(make("p", {}, `It proves nothing: ${data.texts[scene.invalid]}`));
    }
    if (scene.findings.length) {
      parts.push(make("ul", { class: "found" }, ...scene.findings.map(([kind, detail]) =>
        make("li", {}, make("code", {}, kind), ` ${data.guarantees[kind]}. `,
          make("span", { class: "detail" }, data.texts[detail])))));
    }
    return parts;
  }

  function facts(proof, scene) {
    const pairs = [["plan", make("code", {}, scene.plan)]];
    if (scene.known) {
      const deaths = scene.committed.join(", then ");
      pairs.push(["effects", `${deaths} at the death${scene.committed.length > 1 ? "s" : ""}, `
        + `${scene.numbers.length} in the end, ${proof.expected} without a crash`]);
    }
    if (proof.state !== null) pairs.push(["state without a crash", make("code", {}, proof.state)]);
    if (proof.replay !== null) {
      const command = proof.replay.replaceAll("{plan}", scene.plan);
      pairs.push(["replay it alone", make("pre", { tabindex: "0", "aria-label": "replay command" }, command)]);
    }
    return make("dl", { class: "facts" }, ...pairs.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  function step(item, sense, text) {
    const shown = lines.flatMap((line) => line.items || []);
    const other = shown[shown.indexOf(item) + sense];
    const button = make("button", { type: "button", "data-step": sense }, text);
    button.disabled = !other;
    button.addEventListener("click", () => {
      moveTo(other, false);
      open(other);
      const next = panel.querySelector(`[data-step="${sense}"]`);
      (next.disabled ? panel.querySelector("h3") : next).focus();
    });
    return button;
  }

  // -- what is shown ------------------------------------------------------------------------

  function controls() {
    const verdicts = ["all", ...VERDICTS].filter((name) => name === "all" || counts[name]);
    const choices = verdicts.map((name) => {
      const input = make("input", { type: "radio", name: "verdict", value: name });
      input.checked = name === "all";
      input.addEventListener("change", () => {
        chosen.verdict = name;
        viewport.scrollTop = 0;
        layLines();
      });
      const number = name === "all" ? all.length : counts[name];
      return make("label", {}, input, ...(name === "all" ? [] : [badge(name).firstElementChild]),
        make("span", {}, `${name} ${number.toLocaleString("en")}`));
    });
    const search = make("input", {
      type: "search", id: "search", placeholder: "effect:after#3", autocomplete: "off",
      spellcheck: "false",
    });
    search.addEventListener("input", () => {
      chosen.text = search.value.trim().toLowerCase();
      viewport.scrollTop = 0;
      layLines();
    });
    const fields = make("fieldset", {}, make("legend", {}, "Verdict"), ...choices);
    return make("div", { class: "controls" }, fields,
      make("label", { class: "search", for: "search" }, make("span", {}, "Plan"), search));
  }

  function keyOfMap() {
    const deep = all.some((item) => item.deep);
    return make("p", { class: "key" },
      make("span", {}, make("span", { class: "square passed", "aria-hidden": "true" }, "3"), "the third time there, survived"),
      ...(counts.failed ? [make("span", {}, square("failed"), "a guarantee was broken")] : []),
      ...(counts.invalid ? [make("span", {}, square("invalid"), "no kill as planned: proves nothing")] : []),
      ...(deep ? [make("span", {}, make("span", { class: "square passed deep", "aria-hidden": "true" }), "its resume was killed as well")] : []));
  }

  // A scenario that an address names, as `#0/effect:after%233` does.
  function named() {
    const [, proof, plan] = location.hash.match(/^#(\d+)\/(.+)$/) || [];
    return all.find((item) => String(item.proof) === proof && encodeURIComponent(item.plan) === plan);
  }

  function mostTelling() {
    return all.find((item) => item.verdict === "failed")
      || all.find((item) => item.verdict === "invalid")
      || all.find((item) => {
        const { committed } = sceneOf(item);
        return committed[0] > 0 && committed[0] < data.proofs[item.proof].expected;
      }) || all[0];
  }

  host.append(controls(), viewport, empty, keyOfMap());
  layLines();
  const first = named() || mostTelling();
  const address = location.hash;
  moveTo(first, false);
  open(first);
  if (!address) history.replaceState(null, "", location.pathname + location.search);
  viewport.addEventListener("scroll", drawVisible, { passive: true });
  new ResizeObserver(() => { layLines(); drawScene(); }).observe(viewport);
  window.addEventListener("hashchange", () => {
    const item = named();
    if (!item) return;
    moveTo(item, false);
    open(item);
    panel.scrollIntoView({ block: "nearest" });
    panel.querySelector("h3").focus({ preventScroll: true });
  });
  window.addEventListener("beforeprint", drawScene);
})();
