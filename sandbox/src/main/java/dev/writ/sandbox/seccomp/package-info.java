/** The filter of system calls. */
package dev.writ.sandbox.seccomp;
