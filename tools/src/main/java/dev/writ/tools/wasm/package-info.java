/** WebAssembly modules: rules, limits, clocks and files of a guest (spec/tool-wasm.md). */
package dev.writ.tools.wasm;
