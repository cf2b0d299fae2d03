// Unpacks what the package carries into TMPDIR, as the package itself would: the browser, its fonts, its software
// graphics, and the libraries that a bare machine lacks, which it would unpack in its own cloud only.
import chromium, { inflate } from "@sparticuz/chromium";

await chromium.executablePath();
await inflate("node_modules/@sparticuz/chromium/bin/al2023.tar.br");
