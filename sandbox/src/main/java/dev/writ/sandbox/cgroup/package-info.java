/** Limits of memory, processor and processes by control groups, versions 1 and 2. */
package dev.writ.sandbox.cgroup;
