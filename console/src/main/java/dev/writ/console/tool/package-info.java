/** What people see of tools: their versions, reviews and callers (spec/tool-desk.md). */
package dev.writ.console.tool;
