/** The files of a run between effects: quota, digest, archives. */
package dev.writ.sandbox.workspace;
