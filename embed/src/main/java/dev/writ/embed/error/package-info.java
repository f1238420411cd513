/** Error codes of a data directory and of what opens it (CLI, as they were named first). */
package dev.writ.embed.error;
