/** Who approves versions of tools, and how they are rolled out (spec/tool-governance.md). */
package dev.writ.guardian.policy.governance;
