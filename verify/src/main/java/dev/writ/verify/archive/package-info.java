/** Moves closed runs to the archive, and reads their bundles there. */
package dev.writ.verify.archive;
