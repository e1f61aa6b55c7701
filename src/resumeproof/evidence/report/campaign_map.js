// The map: a grid of every scenario, of which only what can be seen is in the page.

const campaignMap = (() => {
  const SIGNS = { failed: "\u00d7", invalid: "?" };
  const LINE = 28; // pixels, as in campaign.css; also the least that a finger hits
  const BEYOND = 6; // lines that are drawn above and below what can be seen
  const PAGE = 10;

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  const square = (verdict) =>
    make("span", { class: `square ${verdict}`, "aria-hidden": "true" }, SIGNS[verdict] || "");

  // Proof by proof and boundary by boundary; a scenario whose resume died as well follows the one
  // that it begins with.
  function groupsOf(data) {
    return data.proofs.map((proof, number) => {
      const rows = new Map();
      for (const text of proof.passed) rows.set(text.slice(0, text.lastIndexOf("#")), []);
      for (const scenario of proof.scenarios) {
        const points = scenario[0].split(";");
        const hash = points[0].lastIndexOf("#");
        const row = scenario[5] === "power_loss" ? "power cut" : points[0].slice(0, hash);
        if (!rows.has(row)) rows.set(row, []);
        rows.get(row).push({
          scenario, proof: number, plan: scenario[0], deep: points.length > 1,
          verdict: data.verdicts[scenario[1]], occurrence: points[0].slice(hash + 1),
        });
      }
      return { name: proof.name, rows: [...rows] };
    });
  }

  class CrashMap {
    constructor(data, onOpen) {
      this.data = data;
      this.onOpen = onOpen;
      this.groups = groupsOf(data);
      this.all = this.groups.flatMap((group) => group.rows.flatMap(([, items]) => items));
      this.all.forEach((item, index) => { item.index = index; });
      this.shown = this.all;
      this.lines = [];
      this.drawn = new Map();
      this.active = null; // where the keyboard is
      this.opened = null;
      this.grid = make("div", { role: "grid", class: "grid", "aria-label": "Crash points" });
      this.viewport = make("div", { class: "viewport" }, this.grid);
      this.empty = make("p", { class: "lead empty", hidden: "" }, "No scenario is like that.");
      this.grid.addEventListener("keydown", (event) => this.key(event));
      this.grid.addEventListener("click", (event) => this.click(event));
      this.viewport.addEventListener("scroll", () => this.draw(), { passive: true });
    }

    // Lay the scenarios that `isShown` picks on as many lines as the window asks for.
    lay(isShown = this.isShown || (() => true)) {
      this.isShown = isShown;
      const wide = this.viewport.clientWidth;
      const label = wide < 640 ? 112 : 168;
      const columns = Math.max(1, Math.floor((wide - label - 4) / LINE));
      this.lines = [];
      for (const { name, rows } of this.groups) {
        const picked = rows.map(([row, items]) => [row, items.filter(isShown)])
          .filter(([, items]) => items.length);
        if (picked.length && this.groups.length > 1) this.lines.push({ group: name });
        for (const [row, items] of picked) {
          for (let from = 0; from < items.length; from += columns) {
            this.lines.push({ name: row, goesOn: from > 0, items: items.slice(from, from + columns) });
          }
        }
      }
      this.lines.forEach((line, number) => line.items?.forEach((item) => { item.line = number; }));
      this.shown = this.lines.flatMap((line) => line.items || []);
      if (!this.shown.includes(this.active)) {
        this.active = this.shown.includes(this.opened) ? this.opened : this.shown[0] || null;
      }
      this.empty.hidden = this.shown.length > 0;
      this.grid.style.setProperty("--label", `${label}px`);
      this.grid.style.height = `${this.lines.length * LINE}px`;
      this.grid.setAttribute("aria-rowcount", this.lines.length);
      this.grid.setAttribute("aria-colcount", columns + 1);
      this.drawn.forEach((row) => row.remove());
      this.drawn.clear();
      this.draw();
    }

    draw() {
      const { scrollTop, clientHeight } = this.viewport;
      const first = Math.max(0, Math.floor(scrollTop / LINE) - BEYOND);
      const last = Math.min(this.lines.length, Math.ceil((scrollTop + clientHeight) / LINE) + BEYOND);
      const wanted = new Set();
      for (let number = first; number < last; number++) wanted.add(number);
      // Where the keyboard is must stay in the page, or the focus would be lost.
      if (this.active) wanted.add(this.active.line);
      for (const [number, row] of this.drawn) {
        if (!wanted.has(number)) {
          row.remove();
          this.drawn.delete(number);
        }
      }
      for (const number of [...wanted].sort((one, other) => one - other)) {
        if (this.drawn.has(number)) continue;
        const row = this.row(this.lines[number], number);
        const next = Math.min(...[...this.drawn.keys()].filter((other) => other > number));
        this.grid.insertBefore(row, this.drawn.get(next) || null);
        this.drawn.set(number, row);
      }
    }

    row(line, number) {
      const row = make("div", { role: "row", class: "line", "aria-rowindex": number + 1 });
      row.style.top = `${number * LINE}px`;
      if (line.group !== undefined) {
        row.append(make("div", { role: "rowheader", class: "name", title: line.group }, line.group));
        return row;
      }
      // A boundary that takes several lines is named on its first, and in each for whoever listens.
      const words = make("span", { class: line.goesOn ? "unseen" : null }, line.name);
      row.append(make("div", { role: "rowheader", class: "label", title: line.name }, words));
      line.items.forEach((item, column) => row.append(this.cell(item, column)));
      return row;
    }

    cell(item, column) {
      const scene = campaignScenes.told(item.scenario);
      // Many power cuts happen at one place, and lose something else each.
      const place = campaignScenes.placeOf(scene) + (scene.kill ? ` (${item.plan})` : "");
      const sign = SIGNS[item.verdict] || (item.deep ? "" : item.occurrence);
      return make("div", {
        role: "gridcell", class: `cell ${item.verdict}${item.deep ? " deep" : ""}`,
        tabindex: item === this.active ? "0" : "-1", "data-index": item.index,
        "aria-colindex": column + 2, "aria-label": `${place}: ${item.verdict}`,
        "aria-selected": String(item === this.opened),
      }, make("span", { "aria-hidden": "true" }, sign));
    }

    cellOf(item) {
      return item && this.grid.querySelector(`[data-index="${item.index}"]`);
    }

    moveTo(item, focus) {
      this.cellOf(this.active)?.setAttribute("tabindex", "-1");
      this.active = item;
      const top = item.line * LINE;
      const below = top + LINE - this.viewport.clientHeight;
      if (top < this.viewport.scrollTop) this.viewport.scrollTop = top - LINE;
      else if (below > this.viewport.scrollTop) this.viewport.scrollTop = below + LINE;
      this.draw();
      const cell = this.cellOf(item);
      cell.tabIndex = 0;
      if (focus) cell.focus({ preventScroll: true });
    }

    // Open a scenario; one that is not shown gets no cell.
    open(item, focus) {
      if (this.shown.includes(item)) this.moveTo(item, focus);
      this.cellOf(this.opened)?.setAttribute("aria-selected", "false");
      this.opened = item;
      this.cellOf(item)?.setAttribute("aria-selected", "true");
      this.onOpen(item);
    }

    // -- by hand ----------------------------------------------------------------------------

    click(event) {
      const cell = event.target.closest(".cell");
      if (cell) this.open(this.all[Number(cell.dataset.index)], true);
    }

    key(event) {
      if (!this.active || event.altKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.open(this.active, false);
        document.getElementById("scenario-heading").focus();
        return;
      }
      const { line } = this.active;
      const column = this.lines[line].items.indexOf(this.active);
      const move = {
        ArrowRight: () => this.beside(line, column, 1),
        ArrowLeft: () => this.beside(line, column, -1),
        ArrowDown: () => this.nearest(this.beyond(line, 1), column),
        ArrowUp: () => this.nearest(this.beyond(line, -1), column),
        PageDown: () => this.nearest(this.beyond(line, 1, PAGE), column),
        PageUp: () => this.nearest(this.beyond(line, -1, PAGE), column),
        Home: () => this.nearest(event.ctrlKey ? this.beyond(-1, 1) : line, 0),
        End: () => this.nearest(event.ctrlKey ? this.beyond(this.lines.length, -1) : line, Infinity),
      }[event.key];
      if (!move) return;
      event.preventDefault();
      this.open(move(), true);
    }

    // The line with scenarios that lies so many of them further; the last there is, if fewer.
    beyond(line, sense, times = 1) {
      let reached = line;
      for (let next = line + sense; times > 0 && this.lines[next]; next += sense) {
        if (this.lines[next].items) {
          reached = next;
          times -= 1;
        }
      }
      return reached;
    }

    nearest(line, column) {
      const { items } = this.lines[line];
      return items[Math.min(column, items.length - 1)];
    }

    beside(line, column, sense) {
      const { items } = this.lines[line];
      if (items[column + sense]) return items[column + sense];
      const other = this.beyond(line, sense);
      return other === line ? items[column] : this.nearest(other, sense > 0 ? 0 : Infinity);
    }
  }

  return { CrashMap, make, square };
})();
