/** Operations on the host: mounts, commands, owners, modes, trees of files. */
package dev.writ.sandbox.host;
