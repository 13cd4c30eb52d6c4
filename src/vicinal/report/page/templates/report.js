"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);

  // ---------------------------------------------------------------- what the page carries

  const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const KINDS = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
  const arrayOf = (packed) => packed && new KINDS[packed.dtype](bytesOf(packed.bytes).buffer);

  const points = data.points;
  const x = arrayOf(points.x), y = arrayOf(points.y);
  const rows = arrayOf(points.rows);
  const rowOf = rows ? (i) => rows[i] : (i) => i;
  const label = arrayOf(points.labels);
  const classOf = (i) => (label ? data.names[label[i]] : "");
  const place = new Map();  // from a row of the data to its place among the points
  for (let i = 0; i < x.length; i++) place.set(rowOf(i), i);

  // A long name where it stands for one among many; all of it is under the mouse.
  const name = (element, text, most, after = "") => {
    const letters = Array.from(text), isLong = letters.length > most;
    element.textContent = (isLong ? letters.slice(0, most - 1).join("") + "…" : text) + after;
    if (isLong) element.title = text;
    if (/\S{16}/.test(text)) element.classList.add("long");
    return element;
  };

  // ---------------------------------------------------------------- light and dark

  const root = document.documentElement;
  const wished = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wished.matches);
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  let drawn = false;

  const recolor = () => {
    $("theme").textContent = isDark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-pressed", String(isDark()));
    if (drawn) Plotly.update("plot", chosenColors(), { "paper_bgcolor": color("--paper"), "plot_bgcolor": color("--paper"), "font.color": color("--ink") }, marks());
  };
  $("theme").hidden = false;
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    recolor();
  });
  wished.addEventListener("change", recolor);

  // ---------------------------------------------------------------- the picture

  const hasWebGL = Boolean(document.createElement("canvas").getContext("webgl"));
  const kind = x.length > 5000 && hasWebGL ? "scattergl" : "scatter";
  const size = Math.max(3, Math.min(9, 14 - 2.2 * Math.log10(x.length)));
  // Of many classes the first have a group of their own, and all others share the last one.
  const groups = data.classes.map(() => []);
  for (let i = 0; i < x.length; i++) groups[label ? Math.min(label[i], groups.length - 1) : 0].push(i);
  // These are drawn first, below the others.
  const layer = (c) => (data.others ? (c + 1) % groups.length : c);

  const trace = (group, c) => ({
    type: kind, mode: "markers", name: data.classes[c].name, text: nameOf(group, c),
    x: group.map((i) => x[i]), y: group.map((i) => y[i]), customdata: group.map(rowOf),
    marker: { size, color: data.classes[c].color, symbol: data.classes[c].symbol, opacity: 0.8 },
    hovertemplate: "row %{customdata}" + (label ? "<br>%{text}" : "") + "<extra></extra>",
  });
  // Plotly reads a little markup in texts: what looks like it is made harmless.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // A long name beside the mouse: lines of a length that fits, as many as do not cover the picture.
  const wrapped = (text) => {
    const letters = Array.from(text), width = 32, most = 4;
    const cut = letters.length > most * width ? [...letters.slice(0, most * width - 1), "…"] : letters;
    const parts = [];
    for (let at = 0; at < cut.length; at += width) parts.push(plain(cut.slice(at, at + width).join("")));
    return parts.join("<br>");
  };
  const nameOf = (group, c) => {
    const isMixed = label && group.some((i) => label[i] !== c);
    return isMixed ? group.map((i) => wrapped(classOf(i))) : wrapped(data.classes[c].name);
  };

  const ring = (name, symbol, width) => ({
    type: kind, mode: "markers", name, x: [], y: [], hoverinfo: "skip",
    marker: { size: size + width, symbol, color: color("--ink"), line: { width: 2 } },
  });
  const marks = () => [groups.length, groups.length + 1, groups.length + 2];
  const chosenColors = () => ({ "marker.color": color("--ink") });

  const rangeOf = (values) => {
    let low = Infinity, high = -Infinity;
    for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
    const margin = 0.04 * (high - low || 1);
    return [low - margin, high + margin];
  };
  const layout = () => ({
    margin: { l: 8, r: 8, t: 8, b: 8 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
    paper_bgcolor: color("--paper"), plot_bgcolor: color("--paper"), font: { color: color("--ink") },
    xaxis: { visible: false, range: rangeOf(x), scaleanchor: data.equal ? "y" : undefined },
    yaxis: { visible: false, range: rangeOf(y) },
  });

  const draw = async () => {
    const source = await new Response(
      new Blob([bytesOf($("plotly").textContent)]).stream().pipeThrough(new DecompressionStream("gzip"))
    ).text();
    const script = document.createElement("script");
    script.textContent = source;
    document.head.append(script);
    const traces = [];
    groups.forEach((group, c) => { traces[layer(c)] = trace(group, c); });
    traces.push(ring("near before", "square-open", 5), ring("near after", "circle-open", 8), ring("chosen", "star", 9));
    const bar = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
    toggles();
    $("plot").hidden = false;  // now all is in its place: it takes the size that it sees
    await Plotly.newPlot("plot", traces, layout(), bar);
    drawn = true;
    $("still").hidden = true;
    $("plot").on("plotly_click", (event) => choose(event.points[0].customdata));
  };

  // ---------------------------------------------------------------- classes to show and hide

  const boxes = () => [...document.querySelectorAll("#toggles input")];
  const show = () => Plotly.restyle("plot", { visible: boxes().map((box) => box.checked) }, groups.map((_, c) => layer(c)));

  const toggles = () => {
    if (!label || groups.length < 2) return;
    data.classes.forEach((one, c) => {
      const line = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", show);
      const sign = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      sign.setAttribute("viewBox", "-6 -6 12 12");
      sign.setAttribute("aria-hidden", "true");
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", one.path);
      path.setAttribute("fill", one.color);
      sign.append(path);
      const count = ` (${groups[c].length.toLocaleString("en")})`;
      line.append(box, sign, name(document.createElement("span"), one.name, 120, count));
      $("toggles").append(line);
    });
    const set = (on) => { boxes().forEach((box) => { box.checked = on; }); show(); };
    $("all").addEventListener("click", () => set(true));
    $("none").addEventListener("click", () => set(false));
    $("classes").hidden = false;
  };

  // ---------------------------------------------------------------- a row and its neighbors

  const choice = data.choice;
  const choosable = arrayOf(choice.rows);
  const order = new Map();
  choosable.forEach((row, i) => order.set(row, i));
  const lists = Object.fromEntries(["before", "after"].map((when) => [when, {
    who: arrayOf(choice[when].who), distance: arrayOf(choice[when].distance),
  }]));
  const described = arrayOf(choice.described), values = arrayOf(choice.values);
  const valueOf = new Map();
  described.forEach((row, i) => valueOf.set(row, i));
  const names = choice.features;
  let current = -1;

  // Four digits, or all of a whole number.
  const digits = (v) => {
    const size = Math.abs(v);
    if (size >= 1e9 || (size > 0 && size < 1e-3)) return v.toExponential(3);
    return size < 1e4 ? String(+v.toPrecision(4)) : v.toFixed(0);
  };

  // Where only some rows have their neighbors listed: the one of them nearest in the picture.
  const nearestChoosable = (row) => {
    if (order.has(row)) return row;
    const i = place.get(row);
    let best = choosable[0], least = Infinity;
    choosable.forEach((other) => {
      const j = place.get(other), apart = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2;
      if (apart < least) { least = apart; best = other; }
    });
    return best;
  };

  const cell = (kind_, text, numeric) => {
    const found = document.createElement(kind_);
    found.textContent = text;
    if (numeric) found.className = "number";
    if (kind_ === "th") found.scope = "col";
    return found;
  };

  const line = (row, distance, own) => {
    const found = document.createElement("tr"), i = place.get(row);
    found.append(cell("td", row, true));
    if (label) {
      found.append(name(cell("td", ""), classOf(i), 40, label[i] === own ? "" : " ≠"));
    }
    found.append(cell("td", distance === null ? "" : digits(distance), true));
    const at = valueOf.get(row);
    names.forEach((_, f) => found.append(cell("td", digits(values[at * names.length + f]), true)));
    return found;
  };

  const fill = (when, row, own) => {
    const table = $(when), k = choice.k, at = order.get(row) * k, near = lists[when];
    const head = document.createElement("tr");
    head.append(cell("th", "Row", true));
    if (label) head.append(cell("th", "Class"));
    head.append(cell("th", "Distance", true), ...names.map((one) => name(cell("th", "", true), one, 40)));
    table.tHead.replaceChildren(head);
    const lines = [line(row, null, own)];
    lines[0].className = "best";
    for (let j = 0; j < k; j++) lines.push(line(near.who[at + j], near.distance[at + j], own));
    table.tBodies[0].replaceChildren(...lines);
  };

  const mark = (row) => {
    if (!drawn) return;
    const at = order.get(row) * choice.k;
    const near = (when) => Array.from(lists[when].who.slice(at, at + choice.k), (r) => place.get(r));
    const sets = [near("before"), near("after"), [place.get(row)]];
    Plotly.restyle("plot", { x: sets.map((s) => s.map((i) => x[i])), y: sets.map((s) => s.map((i) => y[i])) }, marks());
  };

  const choose = (wanted) => {
    if (!place.has(wanted)) {
      $("said").textContent = `There is no row ${wanted} on this page.`;
      return;
    }
    const row = nearestChoosable(wanted), i = place.get(row), own = label ? label[i] : 0;
    current = order.get(row);
    fill("before", row, own);
    fill("after", row, own);
    mark(row);
    $("row").value = row;
    const same = (when) => {
      const at = current * choice.k;
      return Array.from(lists[when].who.slice(at, at + choice.k)).filter((r) => label[place.get(r)] === own).length;
    };
    const others = choice.k ? "" : " There is no other row.";
    const counts = label && choice.k ? ` Of ${choice.k} neighbors, ${same("before")} are of its class before, ${same("after")} after.` : "";
    const instead = row === wanted ? "" : ` (the nearest to row ${wanted} of those with neighbors listed)`;
    $("said").textContent = `Row ${row}${instead}${label ? ", " + classOf(i) : ""}.${others}${counts}`;
  };

  const step = (by) => choose(choosable[(current + by + choosable.length) % choosable.length]);
  $("row").addEventListener("change", () => choose(Number($("row").value)));
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));

  // ---------------------------------------------------------------- begin

  $("choice").hidden = false;
  recolor();
  try {
    await draw();
  } catch (error) {
    $("no-plot").hidden = false;
  }
  choose(choice.first);
})();
