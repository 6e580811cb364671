// A plain script, so that it runs where a page was opened as a file, too: browsers load no module then.

/** Says why the page cannot go on, in place of its panels; where that is for want of WebGPU, what to do. */
function halt(why: string, title = "WebGPU is not here", advice: string[] = WITH_WEBGPU): void {
  const section = document.createElement("section");
  Object.assign(section, { id: "halted", className: "card" });
  section.setAttribute("role", "alert");
  section.innerHTML = `<h2></h2><p></p><ul>${advice.map((line) => `<li>${line}</li>`).join("")}</ul>`;
  section.querySelector("h2")!.textContent = title;
  section.querySelector("p")!.textContent = why;
  document.getElementById("halted")?.remove();
  document.querySelector("header")!.after(section);
  document.querySelector("main")!.hidden = true;
}

var WITH_WEBGPU = [
  `<b>Chrome, Edge</b>: version 113 or later. On Linux, or with an old graphics driver, open <code>chrome://flags</code>,
    enable <i>Unsafe WebGPU Support</i>, and restart the browser.`,
  `<b>Firefox</b>: version 141 or later on Windows, 145 on macOS. Elsewhere set <code>dom.webgpu.enabled</code> in
    <code>about:config</code>.`,
  `<b>Safari</b>: version 26 or later; before, <i>Develop › Feature Flags › WebGPU</i>.`,
  `The page must come from <code>https</code>, or from this computer (<code>http://localhost</code>). A file opened from disk
    has no WebGPU.`,
];

if (location.protocol === "file:") halt("This page was opened as a file. Serve it: examples/pages/serve.js does.");
