// One scenario as a picture: its lives from top to bottom, and what the tool's ledger held.
"use strict";

const campaignPicture = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const KILLS = { sigkill: "SIGKILL", exit86: "exit 86", power_loss: "power cut" };
  const MODES = {
    enospc: "the call failed: no space left",
    eio: "the call failed: input/output error",
    rival: "a second driver started here",
    stop: "stopped here; another driver took over",
  };
  const WHOLE = 9; // events of a life that are all drawn; of more, the first and the last

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

  // -- what happened, as rows ---------------------------------------------------------------

  function pointsOf(plan) {
    return plan.split(";").map((text) => {
      const hash = text.lastIndexOf("#");
      const boundary = text.slice(0, hash);
      const colon = boundary.lastIndexOf(":");
      return {
        text,
        boundary,
        name: boundary.slice(0, colon),
        side: boundary.slice(colon + 1),
        occurrence: Number(text.slice(hash + 1)),
      };
    });
  }

  function told(scenario) {
    const [plan, verdict, findings, invalid, note, kill, course] = scenario;
    const [committed, runs, absorbed = 0, raised = -1, hung = 0, doubts = []] = course || [[], []];
    const numbers = [];
    for (const [first, last] of runs) for (let n = first; n <= last; n++) numbers.push(n);
    return {
      plan, verdict, findings: findings || [], invalid, note, kill, known: Boolean(course),
      points: pointsOf(plan), committed, numbers, absorbed, raised, hung, doubts,
    };
  }

  function inWords(scene, index) {
    const point = scene.points[index];
    let number = point.occurrence;
    if (index === 0 && point.name === "effect" && scene.known) {
      number = scene.committed[0] + (point.side === "before" ? 1 : 0);
    }
    return `${point.side} ${point.name} #${number}`;
  }

  function placeOf(scene) {
    return scene.points.map((_, index) => inWords(scene, index)).join(", and again ");
  }

  function effectRows(proof, scene, from, to) {
    const seen = new Map();
    scene.numbers.slice(0, from).forEach((n) => seen.set(n, (seen.get(n) || 0) + 1));
    return scene.numbers.slice(from, to).map((number) => {
      const times = (seen.get(number) || 0) + 1;
      seen.set(number, times);
      const [kind, key] = proof.effects[number - 1];
      const strange = number > proof.expected;
      const again = times > 1 || strange;
      const why = strange ? "; not in a run without a crash" : "; once more";
      return { kind: "effect", again, text: `${kind} ${key}${again ? why : ""}` };
    });
  }

  // The calls that the first life came through, and its effects among them.
  function firstLife(proof, scene, effects) {
    const at = scene.points[0];
    const rows = [];
    let had = 0;
    for (let place = 0; place < proof.passed.length; place++) {
      const text = proof.passed[place];
      if (text === at.text && at.side === "before") break;
      const hash = text.lastIndexOf("#");
      const [name, side] = text.slice(0, hash).split(":");
      if (side === "after" || side === undefined) {
        if ((name === "effect" || name === "tool") && had < effects.length) rows.push(effects[had++]);
        else if (name !== "effect") {
          rows.push({ kind: "call", text: proof.words[place] || `${name} #${text.slice(hash + 1)}` });
        }
      }
      if (text === at.text) break;
    }
    if (proof.mode !== proof.kill && MODES[proof.mode]) {
      rows.push({ kind: "struck", text: MODES[proof.mode] });
    }
    return rows.concat(effects.slice(had));
  }

  function shortened(rows) {
    if (rows.length <= WHOLE) return rows;
    const left = rows.slice(3, rows.length - 4);
    const counts = ["effect", "call"]
      .map((kind) => [left.filter((row) => row.kind === kind).length, kind])
      .filter(([count]) => count)
      .map(([count, kind]) => `${count} ${kind}${count > 1 ? "s" : ""}`);
    const more = { kind: "more", text: `${counts.join(" and ")} more`, count: left.length };
    return [...rows.slice(0, 3), more, ...rows.slice(-4)];
  }

  function rowsOf(proof, scene, texts) {
    const rows = [];
    const kill = KILLS[scene.kill || proof.kill];
    const disturbed = proof.mode !== proof.kill && MODES[proof.mode];
    let before = 0;
    scene.points.forEach((point, index) => {
      rows.push({ kind: "birth", text: `life ${index + 1}` });
      const count = scene.committed[index] ?? before;
      const effects = effectRows(proof, scene, before, count);
      rows.push(...shortened(index ? effects : firstLife(proof, scene, effects)));
      const where = disturbed ? "at its end" : inWords(scene, index);
      const holds = scene.known ? `holds ${count || "no"} effect${count === 1 ? "" : "s"}` : "";
      rows.push({ kind: "death", text: `${kill} ${where}`, ledger: holds, at: point.text });
      before = count;
    });
    if (scene.invalid >= 0) return rows;
    rows.push({ kind: "birth", text: `life ${scene.points.length + 1}` });
    rows.push(...shortened(effectRows(proof, scene, before, scene.numbers.length)));
    if (scene.absorbed) {
      const calls = `${scene.absorbed} call${scene.absorbed > 1 ? "s" : ""}`;
      rows.push({ kind: "replay", text: `${calls} answered with an earlier receipt` });
    }
    const counts = new Map();
    scene.numbers.forEach((n) => counts.set(n, (counts.get(n) || 0) + 1));
    const missing = [];
    for (let n = 1; n <= (scene.known ? proof.expected : 0); n++) if (!counts.has(n)) missing.push(n);
    for (const number of missing.slice(0, WHOLE)) {
      const [kind, key] = proof.effects[number - 1];
      const doubted = scene.doubts.includes(key);
      const why = doubted ? "reported as unknown" : "never happened";
      rows.push({ kind: doubted ? "doubt" : "lost", text: `${kind} ${key}: ${why}` });
    }
    if (missing.length > WHOLE) {
      rows.push({ kind: "more", text: `${missing.length - WHOLE} more never happened` });
    }
    const how = scene.hung ? "did not end in time" : scene.raised >= 0 ? texts[scene.raised] : "";
    const life = `life ${scene.points.length + 1}`;
    rows.push({ kind: "end", bad: Boolean(how), text: how ? `${life}: ${how}` : `${life} ended` });
    return rows;
  }

  function sentence(row) {
    if (row.kind === "death") {
      return `The process died: ${row.text}${row.ledger ? `; the ledger ${row.ledger}` : ""}`;
    }
    const lane = { effect: "Effect", call: "Call", replay: "Tool ledger", lost: "Tool ledger" };
    return lane[row.kind] ? `${lane[row.kind]}: ${row.text}` : row.text;
  }

  // -- the drawing --------------------------------------------------------------------------

  function node(tag, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function draw(proof, scene, texts, marks, width) {
    const rows = rowsOf(proof, scene, texts);
    const calls = rows.some((row) => row.kind === "call" || row.kind === "struck");
    const form = width < 640 ? FORMS.narrow : calls ? FORMS.wide : FORMS.pair;
    const narrow = form === FORMS.narrow;
    const layers = { bands: [], rails: [], lives: [], rows: [] };
    let y = 0;
    let born = null;

    const cut = (text, columns) => (text.length > columns ? `${text.slice(0, columns - 1)}…` : text);
    const label = (text, [x, anchor, columns], middle, name) =>
      node("text", { x, y: middle + 5, "text-anchor": anchor, class: name }, cut(text, columns));
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

    const lanes = [["Process", form.process, form.processWords], ["Tool ledger", form.ledger, form.ledgerWords]];
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
      group.append(node("title", {}, sentence(row)), ...(drawn[row.kind] || drawn.entry)(row));
      layers.rows.push(group);
    }
    const bottom = y + 8;
    life(bottom, "going");
    const rail = (x, name) =>
      layers.rails.push(node("line", { x1: x, y1: top, x2: x, y2: bottom, class: `rail ${name}` }));
    if (calls) rail(form.calls, "journal");
    rail(form.ledger, "ledger");
    rail(form.process, "faint");

    const svg = node("svg", {
      class: "picture scene", viewBox: `0 0 ${form.width} ${bottom + 4}`, width: form.width,
      height: bottom + 4, role: "img", "aria-labelledby": "scene-title scene-desc",
    });
    svg.append(node("title", { id: "scene-title" }, `The scenario ${placeOf(scene)}`));
    svg.append(node("desc", { id: "scene-desc" }, rows.map((row, n) => `${n + 1}. ${sentence(row)}. `).join("")));
    for (const layer of ["bands", "rails", "lives", "rows"]) {
      svg.append(node("g", { "aria-hidden": "true" }, ...layers[layer]));
    }
    return svg;
  }

  return { draw, told, placeOf, pointsOf };
})();
