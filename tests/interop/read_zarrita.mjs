// Reads the arrays that zarrpack decoded with zarrita, and saves what it finds.
//
// For each array of stores.json in the folder given: zarrita/NAME/PATH.bin with the elements in C order, and PATH.json with
// the type and the shape, or with the error.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

const [folder] = process.argv.slice(2);

// The bytes of elements in C order; a transposed array has other strides.
function bytesOf({ data, stride }, shape) {
  const size = data.BYTES_PER_ELEMENT;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const ordered = Buffer.alloc(bytes.length);
  const index = shape.map(() => 0);
  for (let at = 0; at < bytes.length; at += size) {
    const from = index.reduce((sum, n, axis) => sum + n * stride[axis], 0) * size;
    bytes.copy(ordered, at, from, from + size);
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
  return ordered;
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
