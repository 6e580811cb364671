/** Says how a route went, in one line; what went wrong, in more. Exits where something did. */
export function report(route, { equal, count, complaints, seconds }, what = "cases bit-equal") {
  complaints.forEach((complaint) => console.error(`  ${complaint}`));
  const verdict = equal === count ? "ok" : "FAILED";
  console.log(`${route}: ${equal} of ${count} ${what}, ${seconds.toFixed(0)} s: ${verdict}`);
  if (equal !== count) process.exitCode = 1;
}

/** A line that is overwritten, where somebody watches. */
export function progress(route) {
  return (done, count) => process.stderr.isTTY && process.stderr.write(`\r${route}: ${done} of ${count}\r`);
}
