/** Checkpoints that leave a running server: witnesses are asked, places are written to. */
package dev.writ.cli.publish;
