/** The code interpreter (spec/tool-code.md). */
package dev.writ.tools.code;
