// Names as SQL has them.

export const quoted = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
