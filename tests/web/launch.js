import { chromium } from "playwright-core";

/** Debian's Chromium, headless, with WebGPU on whatever adapter there is: SwiftShader, where there is no hardware. */
export function launch(args = ["--enable-unsafe-webgpu"]) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox", ...args] });
}
