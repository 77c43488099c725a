import { X509Certificate } from 'node:crypto';

/** The order of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** A certificate in PEM with `n - s` in place of `s` in its ECDSA signature `(r, s)`, which is as valid. */
export function withTwinSignature(pem: Buffer): Buffer {
  const der = new X509Certificate(pem).raw;
  const content = elementAt(der, elementAt(der, 0).from);
  const algorithm = elementAt(der, content.to);
  const signature = elementAt(der, algorithm.to);
  // A bit string: one byte for its unused bits, then the sequence of r and s.
  const r = elementAt(der, elementAt(der, signature.from + 1).from);
  const s = elementAt(der, r.to);
  const twin = ORDER - BigInt(`0x${der.toString('hex', s.from, s.to)}`);
  const pair = element(0x30, Buffer.concat([der.subarray(r.at, r.to), integer(twin)]));
  const bits = element(0x03, Buffer.concat([Buffer.from([0]), pair]));
  const signed = element(0x30, Buffer.concat([der.subarray(content.at, algorithm.to), bits]));
  return Buffer.from(
    `-----BEGIN CERTIFICATE-----\n${signed.toString('base64')}\n-----END CERTIFICATE-----\n`,
  );
}

/** Where an element of DER begins, and where its content begins and ends. */
function elementAt(der: Buffer, at: number): { at: number; from: number; to: number } {
  const first = der.readUInt8(at + 1);
  if (first < 0x80) return { at, from: at + 2, to: at + 2 + first };
  const bytes = first - 0x80;
  const from = at + 2 + bytes;
  return { at, from, to: from + der.readUIntBE(at + 2, bytes) };
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  // A leading bit would be a minus.
  return element(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}
