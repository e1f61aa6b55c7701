// The page of a campaign: what of the map is shown, and the scenario that is open.

(() => {
  const host = document.getElementById("map");
  if (!host) return;
  const { CrashMap, make, square } = campaignMap;
  const data = JSON.parse(document.getElementById("campaign-data").textContent);
  const panel = document.getElementById("scenario");
  // Signs and badges are those of the whole report.
  const badges = document.getElementById("badges").content.children;
  const badge = (verdict) => badges[data.verdicts.indexOf(verdict)].cloneNode(true);
  const map = new CrashMap(data, show);
  const counts = Object.fromEntries(data.verdicts.map((name) => [name, 0]));
  for (const item of map.all) counts[item.verdict] += 1;

  // -- one scenario -------------------------------------------------------------------------

  function show(item) {
    const proof = data.proofs[item.proof];
    const scene = campaignScenes.told(item.scenario);
    const place = campaignScenes.placeOf(scene);
    const heading = make("h3", { tabindex: "-1", id: "scenario-heading" },
      place[0].toUpperCase() + place.slice(1));
    panel.replaceChildren(
      make("div", { class: "head" }, heading, badge(item.verdict)),
      ...told(proof, scene),
      make("figure", { id: "scene" }),
      facts(proof, scene),
      make("p", { class: "steps" }, step(item, -1, "Previous"), step(item, 1, "Next")),
    );
    panel.dataset.plan = item.plan;
    panel.dataset.proof = item.proof;
    draw();
  }

  function draw() {
    const figure = document.getElementById("scene");
    const proof = data.proofs[map.opened.proof];
    const scene = campaignScenes.told(map.opened.scenario);
    const svg = campaignPicture.draw(proof, scene, data.texts, data.marks, figure.clientWidth);
    figure.replaceChildren(svg);
    campaignPicture.fit(svg);
  }

  function told(proof, scene) {
    const parts = [];
    if (data.proofs.length > 1) parts.push(make("p", { class: "lead" }, proof.name));
    if (scene.note >= 0) parts.push(make("p", {}, data.texts[scene.note]));
    if (scene.invalid >= 0) {
      parts.push(make("p", {}, `It proves nothing: ${data.texts[scene.invalid]}`));
    }
    if (scene.findings.length) {
      const found = scene.findings.map(([kind, detail]) => make("li", {},
        make("code", {}, kind), ` ${data.guarantees[kind]}. `,
        make("span", { class: "detail" }, data.texts[detail])));
      parts.push(make("ul", { class: "found" }, ...found));
    }
    return parts;
  }

  function facts(proof, scene) {
    const pairs = [["plan", make("code", {}, scene.plan)]];
    if (scene.known) {
      const deaths = `at the death${scene.committed.length > 1 ? "s" : ""}`;
      pairs.push(["effects", `${scene.committed.join(", then ")} ${deaths}, `
        + `${scene.total} in the end, ${proof.expected} without a crash`]);
    }
    if (proof.state !== null) pairs.push(["state without a crash", make("code", {}, proof.state)]);
    if (proof.replay !== null) {
      const command = proof.replay.replaceAll("{plan}", scene.plan);
      pairs.push(["replay it alone", make("pre", {}, command)]);
    }
    return make("dl", { class: "facts" }, ...pairs.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  function step(item, sense, text) {
    const other = map.shown[map.shown.indexOf(item) + sense];
    const button = make("button", { type: "button", "data-step": sense }, text);
    button.disabled = !other;
    button.addEventListener("click", () => {
      map.open(other, false);
      const again = panel.querySelector(`[data-step="${sense}"]`);
      (again.disabled ? document.getElementById("scenario-heading") : again).focus();
    });
    return button;
  }

  // -- what is shown ------------------------------------------------------------------------

  function controls() {
    const chosen = { verdict: "all", text: "" };
    const choose = (changed) => {
      Object.assign(chosen, changed);
      map.viewport.scrollTop = 0;
      map.lay((item) => (chosen.verdict === "all" || item.verdict === chosen.verdict)
        && `${item.plan} ${data.proofs[item.proof].name}`.toLowerCase().includes(chosen.text));
      host.dataset.shown = map.shown.length;
    };
    const names = ["all", ...data.verdicts.filter((name) => counts[name])];
    const choices = names.map((name) => {
      const input = make("input", { type: "radio", name: "verdict", value: name });
      input.checked = name === "all";
      input.addEventListener("change", () => choose({ verdict: name }));
      const number = name === "all" ? map.all.length : counts[name];
      const sign = name === "all" ? [] : [badge(name).firstElementChild];
      return make("label", {}, input, ...sign,
        make("span", {}, `${name} ${number.toLocaleString("en")}`));
    });
    const search = make("input", {
      type: "search", id: "search", placeholder: map.all[0].plan, autocomplete: "off",
      spellcheck: "false",
    });
    search.addEventListener("input", () => choose({ text: search.value.trim().toLowerCase() }));
    return make("div", { class: "controls" },
      make("fieldset", {}, make("legend", {}, "Verdict"), ...choices),
      make("label", { class: "search", for: "search" }, make("span", {}, "Plan"), search));
  }

  function key() {
    const passed = square("passed");
    passed.append("3");
    const deep = square("passed");
    deep.classList.add("deep");
    const signs = [
      [counts.passed, passed, "the third time there, survived"],
      [counts.failed, square("failed"), "a guarantee was broken"],
      [counts.invalid, square("invalid"), "no kill as planned: proves nothing"],
      [map.all.some((item) => item.deep), deep, "its resume was killed as well"],
    ];
    return make("p", { class: "key" }, ...signs.filter(([there]) => there)
      .map(([, sign, words]) => make("span", {}, sign, words)));
  }

  // The scenario that an address names, as `#0/effect%3Aafter%233` does.
  function named() {
    const [, proof, plan] = location.hash.match(/^#(\d+)\/(.+)$/) || [];
    return map.all.find((item) =>
      String(item.proof) === proof && encodeURIComponent(item.plan) === plan);
  }

  // What shows most: what failed, else a resume that found something and had something left to do.
  function mostTelling() {
    const went = (item) => {
      const [course] = item.scenario.slice(-1);
      return course && course[0][0] > 0 && course[0][0] < data.proofs[item.proof].expected;
    };
    return map.all.find((item) => item.verdict === "failed")
      || map.all.find((item) => item.verdict === "invalid") || map.all.find(went) || map.all[0];
  }

  host.append(controls(), map.viewport, map.empty, key());
  host.dataset.shown = map.all.length;
  map.lay();
  map.open(named() || mostTelling(), false);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && map.active) map.moveTo(map.active, true);
  });
  let width = map.viewport.clientWidth;
  new ResizeObserver(() => {
    if (map.viewport.clientWidth === width) return;
    width = map.viewport.clientWidth;
    map.lay();
    draw();
  }).observe(map.viewport);
  window.addEventListener("hashchange", () => {
    const item = named();
    if (!item) return;
    map.open(item, false);
    panel.scrollIntoView({ block: "nearest" });
    document.getElementById("scenario-heading").focus({ preventScroll: true });
  });
})();
