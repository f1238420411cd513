/** What all tools that are processes share: programs, artifacts, masking, secrets, workspaces. */
package dev.writ.tools.process;
