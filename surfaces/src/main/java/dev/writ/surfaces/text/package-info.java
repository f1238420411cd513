/** An outcome as the texts and the exit code that clients of the seeds expect. */
package dev.writ.surfaces.text;
