// How a scenario went, as rows: its lives from first to last, and what the tool's ledger held.
"use strict";

const campaignScenes = (() => {
  const KILLS = { sigkill: "SIGKILL", exit86: "exit 86", power_loss: "power cut" };
  const MODES = {
    enospc: "the call failed: no space left",
    eio: "the call failed: input/output error",
    rival: "a second driver started here",
    stop: "stopped here; another driver took over",
  };
  const WHOLE = 9; // events of a life that are all drawn; of more, the first and the last

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
    const total = runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    return {
      plan, verdict, findings: findings || [], invalid, note, kill, known: Boolean(course),
      points: pointsOf(plan), committed, runs, total, absorbed, raised, hung, doubts,
    };
  }

  // All effects that there were in the end, by their numbers.
  function numbersOf({ runs }) {
    const numbers = [];
    for (const [first, last] of runs) for (let n = first; n <= last; n++) numbers.push(n);
    return numbers;
  }

  function inWords(scene, index) {
    const point = scene.points[index];
    if (scene.kill === "power_loss") return `${point.side} call #${point.occurrence}`;
    let number = point.occurrence;
    if (index === 0 && point.name === "effect" && scene.known) {
      number = scene.committed[0] + (point.side === "before" ? 1 : 0);
    }
    return `${point.side} ${point.name} #${number}`;
  }

  function placeOf(scene) {
    const crash = scene.kill === "power_loss" ? "power cut" : "crash";
    return `${crash} ${scene.points.map((_, index) => inWords(scene, index)).join(", and again ")}`;
  }

  function effectRows(proof, numbers, from, to) {
    const seen = new Map();
    numbers.slice(0, from).forEach((n) => seen.set(n, (seen.get(n) || 0) + 1));
    return numbers.slice(from, to).map((number) => {
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
    const first = scene.points[0];
    const power = scene.kill === "power_loss";
    const torn = first.text.startsWith("write-cut");
    const side = torn ? "before" : first.side;
    const at = power || torn ? { side, text: `call:${side}#${first.occurrence}` } : first;
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
    const numbers = numbersOf(scene);
    let before = 0;
    scene.points.forEach((point, index) => {
      rows.push({ kind: "birth", text: `life ${index + 1}` });
      const count = scene.committed[index] ?? before;
      const effects = effectRows(proof, numbers, before, count);
      rows.push(...shortened(index ? effects : firstLife(proof, scene, effects)));
      const where = disturbed ? "at its end" : inWords(scene, index);
      const holds = scene.known ? `holds ${count || "no"} effect${count === 1 ? "" : "s"}` : "";
      rows.push({ kind: "death", text: `${kill} ${where}`, ledger: holds, at: point.text });
      before = count;
    });
    if (scene.invalid >= 0) return rows;
    const life = `life ${scene.points.length + 1}`;
    if (proof.resumed) rows.push({ kind: "birth", text: life });
    if (proof.explored) {
      const found = scene.findings[0];
      const text = found ? texts[found[1]] : "what is left is as it should be";
      rows.push({ kind: "end", bad: Boolean(found), text: proof.resumed ? `${life}: ${text}` : text });
      return rows;
    }
    rows.push(...shortened(effectRows(proof, numbers, before, numbers.length)));
    if (scene.absorbed) {
      const calls = `${scene.absorbed} call${scene.absorbed > 1 ? "s" : ""}`;
      rows.push({ kind: "replay", text: `${calls} answered with an earlier receipt` });
    }
    const counts = new Map();
    numbers.forEach((n) => counts.set(n, (counts.get(n) || 0) + 1));
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

  return { told, placeOf, rowsOf, sentence };
})();
