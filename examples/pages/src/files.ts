import { element } from "./dom.js";

/** A file that is picked or dropped anywhere on the page. The element `drop` has the input `file`, which keys open by themselves. */
export function onFile(given: (file: File) => void): void {
  const input = element<HTMLInputElement>("file");
  input.addEventListener("change", () => {
    const [picked] = input.files ?? [];
    input.value = ""; // so that the same file can be picked again
    if (picked) given(picked);
  });
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      element("drop").classList.toggle("over", name === "dragenter" || name === "dragover");
    });
  }
  document.addEventListener("drop", (event) => {
    const [dropped] = event.dataTransfer?.files ?? [];
    if (dropped) given(dropped);
  });
}

/** The picture that a file has. */
export async function pictureOf(file: Blob, name: string): Promise<ImageBitmap> {
  return createImageBitmap(file).catch(() => {
    throw new Error(`${name} is no picture that this browser reads.`);
  });
}

/** What lies beside the page; `progress` is told the bytes so far, and how many there are where that is known. */
export async function fetched(name: string, progress: (bytes: number, all?: number) => void = () => {}): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(name).catch((error: Error) => {
    throw new Error(`${name} could not be loaded: ${error.message}`);
  });
  if (!response.ok) throw new Error(`${name} is not beside this page (status ${response.status}): build the page anew.`);
  const length = response.headers.get("content-encoding") ? undefined : Number(response.headers.get("content-length")) || undefined;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const reader = response.body!.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    progress((bytes += value.length), length);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
