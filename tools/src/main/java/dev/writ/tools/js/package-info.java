/** JavaScript inside WebAssembly (spec/tool-js.md). */
package dev.writ.tools.js;
