// Reads the arrays that zarrpack decoded with zarrita, and saves what it finds.
//
// For each array of stores.json in the folder given: zarrita/NAME/PATH.bin with the elements in C order, and PATH.json with
// the type and the shape, or with the error.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

const [folder] = process.argv.slice(2);

// The bytes of elements, which must lie in C order.
function bytesOf({ data, stride }, shape) {
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (stride[axis] !== step) throw new Error(`strides ${stride} are not those of C order`);
    step *= shape[axis];
  }
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

async function readArray(store, path) {
  const root = zarr.root(new FileSystemStore(store));
  const array = await zarr.open.v3(path === "." ? root : root.resolve(path), { kind: "array" });
  // Without dimensions, `get` would give a number instead of elements.
  const elements = array.shape.length === 0 ? await array.getChunk([]) : await zarr.get(array);
  return { bytes: bytesOf(elements, array.shape), data_type: array.dtype, shape: array.shape };
}

for (const { name, arrays } of JSON.parse(await readFile(join(folder, "stores.json"), "utf8"))) {
  const target = join(folder, "zarrita", name);
  await mkdir(target, { recursive: true });
  for (const { path, file } of arrays.filter((array) => array.zarrita)) {
    let found;
    try {
      const { bytes, ...description } = await readArray(join(folder, "decoded", name), path);
      await writeFile(join(target, `${file}.bin`), bytes);
      found = description;
    } catch (error) {
      found = { error: String(error) };
    }
    await writeFile(join(target, `${file}.json`), JSON.stringify(found));
  }
}
