/** The git tool (spec/tool-git.md). */
package dev.writ.tools.git;
