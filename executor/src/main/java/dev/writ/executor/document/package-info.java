/** Documents about runs and the system: orders, closings, resolutions, changes, stagings. */
package dev.writ.executor.document;
