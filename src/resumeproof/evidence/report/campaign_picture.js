// The rows of a scenario as a picture: time runs downwards, and a life is a bar.

const campaignPicture = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const FORMS = {
    wide: {
      width: 960, row: 40, calls: 352, process: 480, ledger: 608,
      callWords: [328, "end", 44], processWords: [480, "middle", 34], ledgerWords: [632, "start", 46],
    },
    pair: {
      width: 760, row: 40, calls: null, process: 150, ledger: 300,
      callWords: null, processWords: [150, "middle", 40], ledgerWords: [324, "start", 60],
    },
    narrow: {
      width: 358, row: 32, calls: 12, process: 38, ledger: 64,
      callWords: [90, "start", 36], processWords: [90, "start", 36], ledgerWords: [90, "start", 36],
    },
  };

  // -- the drawing --------------------------------------------------------------------------

  function node(tag, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function draw(proof, scene, texts, marks, width) {
    const rows = campaignScenes.rowsOf(proof, scene, texts);
    const calls = rows.some((row) => row.kind === "call" || row.kind === "struck");
    const form = width < 640 ? FORMS.narrow : calls ? FORMS.wide : FORMS.pair;
    const narrow = form === FORMS.narrow;
    const layers = { bands: [], rails: [], lives: [], rows: [] };
    let y = 0;
    let born = null;

    const cut = (text, columns) => (text.length > columns ? `${text.slice(0, columns - 1)}…` : text);
    const label = (text, [x, anchor, columns], middle, name) => {
      const room = { start: form.width - x, end: x, middle: 2 * Math.min(x, form.width - x) };
      return node("text", {
        x, y: middle + 5, "text-anchor": anchor, class: name, "data-room": room[anchor] - 4,
      }, cut(text, columns));
    };
    const mark = (shape, x, middle, name = "") => {
      const made = node("g", {
        class: `mark ${shape} ${name}`.trim(), transform: `translate(${x} ${middle})`,
      });
      if (shape === "death") made.append(node("circle", { r: 15 }));
      marks[shape].forEach((d, inner) =>
        made.append(node("path", inner ? { d, class: "inner" } : { d })));
      return made;
    };
    const life = (bottom, how) => {
      if (born !== null) {
        layers.lives.push(node("rect", {
          x: form.process - 4, y: born, width: 8, height: bottom - born, rx: 4, class: `life ${how}`,
        }));
      }
      born = null;
    };
    const pill = (text, middle, name) => {
      const shown = cut(text, form.processWords[2]);
      const wide = 7.4 * shown.length + 24;
      return [
        node("rect", {
          x: form.process - wide / 2, y: middle - 13, width: wide, height: 26, rx: 13,
          class: `pill ${name}`,
        }),
        label(shown, form.processWords, middle, name),
      ];
    };
    const advance = () => {
      y += form.row;
      return y - form.row / 2;
    };
    const arrow = (end, middle) => {
      const sense = end > form.process ? 1 : -1;
      const tip = end - sense * 13;
      return node("g", { class: "arrow" },
        node("line", { x1: form.process + sense * 4, y1: middle, x2: tip, y2: middle }),
        node("path", { d: `M${tip - sense * 6} ${middle - 4}L${tip} ${middle}L${tip - sense * 6} ${middle + 4}` }));
    };
    const drawn = {
      birth(row) {
        const middle = advance();
        born = narrow ? middle : middle + 13;
        return narrow ? [label(row.text, form.processWords, middle, "told")] : pill(row.text, middle, "born");
      },
      end(row) {
        const middle = advance();
        life(narrow ? middle : middle - 13, "whole");
        if (narrow) return [label(row.text, form.processWords, middle, row.bad ? "died" : "told")];
        // What a life raised is too long for a pill in the middle of the picture.
        return row.bad
          ? [label(row.text, [form.process - 100, "start", 90], middle + 8, "died")]
          : pill(row.text, middle, "ended");
      },
      death(row) {
        const top = y + 4;
        const middle = top + (narrow ? 17 : 24);
        const height = narrow ? (row.ledger ? 56 : 36) : 72;
        y = top + height + 8;
        life(middle, "cut");
        layers.bands.push(node("rect", { x: 0, y: top, width: form.width, height, rx: 6, class: "death" }));
        const made = [mark("death", form.process, middle)];
        made.push(label(row.text, form.processWords, narrow ? middle : top + 53, "died"));
        if (row.ledger) {
          made.push(label(`the ledger ${row.ledger}`, form.ledgerWords, narrow ? middle + 22 : top + 36, "knew"));
        }
        return made;
      },
      entry(row) {
        const middle = advance();
        const [x, words, shape, name] = {
          call: [form.calls, form.callWords, "record", ""],
          struck: [form.calls, form.callWords, "refused", "doubt"],
          more: [null, calls ? form.callWords : form.ledgerWords, null, "told"],
          effect: [form.ledger, form.ledgerWords, "effect", row.again ? "again" : "effect"],
          replay: [form.ledger, form.ledgerWords, "replay", "replay"],
          doubt: [form.ledger, form.ledgerWords, "doubt", "doubt"],
          lost: [form.ledger, form.ledgerWords, "effect", "lost"],
        }[row.kind];
        const made = [];
        if (shape && row.kind !== "lost" && row.kind !== "doubt") made.push(arrow(x, middle));
        if (shape) made.push(mark(shape, x, middle, name));
        made.push(label(row.text, words, middle, name || "call"));
        return made;
      },
    };

    const lanes = [["Process", form.process, form.processWords]];
    if (!proof.explored) lanes.push(["Tool ledger", form.ledger, form.ledgerWords]);
    if (calls) lanes.unshift(["Calls", form.calls, form.callWords]);
    for (const [name, x, words] of lanes) {
      if (narrow || y === 0) y += 22;
      layers.rows.push(label(name, words, y, `lane ${name === "Calls" ? "journal" : name.split(" ").pop().toLowerCase()}`));
      if (narrow) layers.rails.push(node("path", { d: `M${words[0] - 6} ${y}H${x}V${y + 12}`, class: "step" }));
    }
    y += 18;
    const top = y;
    for (const row of rows) {
      const group = node("g", { class: row.kind, "data-mark": row.kind });
      group.append(node("title", {}, campaignScenes.sentence(row)), ...(drawn[row.kind] || drawn.entry)(row));
      layers.rows.push(group);
    }
    const bottom = y + 8;
    life(bottom, "going");
    const rail = (x, name) =>
      layers.rails.push(node("line", { x1: x, y1: top, x2: x, y2: bottom, class: `rail ${name}` }));
    if (calls) rail(form.calls, "journal");
    if (!proof.explored) rail(form.ledger, "ledger");
    rail(form.process, "faint");

    const svg = node("svg", {
      class: "picture scene", viewBox: `0 0 ${form.width} ${bottom + 4}`, width: form.width,
      height: bottom + 4, role: "img", "aria-labelledby": "scene-title scene-desc",
    });
    svg.append(node("title", { id: "scene-title" }, `The scenario: ${campaignScenes.placeOf(scene)}`));
    svg.append(node("desc", { id: "scene-desc" }, rows.map((row, n) => `${n + 1}. ${campaignScenes.sentence(row)}. `).join("")));
    for (const layer of ["bands", "rails", "lives", "rows"]) {
      svg.append(node("g", { "aria-hidden": "true" }, ...layers[layer]));
    }
    return svg;
  }

  // Letters differ in width: what is still too long for its room is cut where it stands.
  function fit(svg) {
    for (const text of svg.querySelectorAll("text")) {
      const room = Number(text.dataset.room);
      if (text.getComputedTextLength() <= room) continue;
      const whole = text.textContent;
      let fits = 0;
      let fails = whole.length;
      while (fits + 1 < fails) {
        const middle = Math.floor((fits + fails) / 2);
        text.textContent = `${whole.slice(0, middle)}…`;
        if (text.getComputedTextLength() <= room) fits = middle;
        else fails = middle;
      }
      text.textContent = `${whole.slice(0, fits)}…`;
    }
  }

  return { draw, fit };
})();
