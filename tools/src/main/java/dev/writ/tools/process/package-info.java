/** Shared parts of tools that are processes: programs, artifacts, masking, secrets, workspaces. */
package dev.writ.tools.process;
