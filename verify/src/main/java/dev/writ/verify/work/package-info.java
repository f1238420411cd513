/** Work that is done on other cores, ahead of who needs it. */
package dev.writ.verify.work;
