/** Commands of the host (spec/tool-exec.md). */
package dev.writ.tools.exec;
