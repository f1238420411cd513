/** Files that are written whole or not at all, and directories that are private. */
package dev.writ.canonicalize.disk;
