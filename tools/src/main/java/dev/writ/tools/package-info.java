/** Makes all drivers of an installation. */
package dev.writ.tools;
