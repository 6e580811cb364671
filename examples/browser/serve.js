// node serve.js FOLDER PORT
import { serve } from "./server.js";

const [folder, port] = process.argv.slice(2);
const { address } = await serve(folder, Number(port));
console.log(`The page is at ${address} (Ctrl-C ends it).`);
