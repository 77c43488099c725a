import { fromBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { FieldViolationSchema } from '@holdfast/proto/guard';

/** An HTTP answer, its trailers among the headers. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What an answer says in whichever protocol. */
export interface Verdict {
  /** `ok`, a status code's name in lower case, or `http 415` and the like. */
  readonly code: string;
  readonly message: string;
  /** The field that INVALID_ARGUMENT names, as in the .proto. */
  readonly field: string | undefined;
}

const VIOLATION = 'holdfast.v1.FieldViolation';

/** Reads an answer. Throws when it is none of the protocol's. */
export function verdictOf({ status, headers, body }: WireAnswer): Verdict {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/grpc-web')) {
    const trailer = lastFrame(body, 0x80);
    return grpcVerdict(trailer === undefined ? headers : { ...headers, ...headersIn(trailer.toString()) });
  }
  if (type.startsWith('application/grpc')) return grpcVerdict(headers);
  if (type.startsWith('application/connect+')) {
    const end = lastFrame(body, 0x02);
    if (!end) throw new Error('a stream without its end');
    return connectVerdict((JSON.parse(end.toString()) as { error?: ConnectJson }).error);
  }
  if (status === 200) return { code: 'ok', message: '', field: undefined };
  if (type.startsWith('application/json')) return connectVerdict(JSON.parse(body.toString()) as ConnectJson);
  return { code: `http ${status}`, message: body.toString(), field: undefined };
}

interface ConnectJson {
  code: string;
  message?: string;
  details?: { type: string; value: string }[];
}

function connectVerdict(error: ConnectJson | undefined): Verdict {
  if (!error) return { code: 'ok', message: '', field: undefined };
  const detail = error.details?.find(({ type }) => type === VIOLATION);
  return {
    code: error.code,
    message: error.message ?? '',
    field: fieldIn(detail && Buffer.from(detail.value, 'base64')),
  };
}

function grpcVerdict(headers: Readonly<Record<string, string>>): Verdict {
  const status = Number(headers['grpc-status']);
  if (Number.isNaN(status)) throw new Error(`a gRPC answer without its status: ${JSON.stringify(headers)}`);
  const message = decodeURIComponent(headers['grpc-message'] ?? '');
  const details = Buffer.from(headers['grpc-status-details-bin'] ?? '', 'base64');
  const at = details.indexOf(VIOLATION);
  // google.rpc.Status holds an Any: its type's name, then tag and length of its value.
  const field = at < 0 ? undefined : fieldIn(anyValue(details.subarray(at + VIOLATION.length)));
  const name = Code[status]?.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
  return { code: status === 0 ? 'ok' : (name ?? `status ${status}`), message, field };
}

function anyValue(rest: Buffer): Buffer {
  let [at, length, shift] = [1, 0, 0];
  for (let byte = 0x80; byte & 0x80; shift += 7) {
    byte = rest.readUInt8(at++);
    length |= (byte & 0x7f) << shift;
  }
  return rest.subarray(at, at + length);
}

const fieldIn = (value: Buffer | undefined) => value && fromBinary(FieldViolationSchema, value).field;

function lastFrame(body: Buffer, flag: number): Buffer | undefined {
  let found: Buffer | undefined;
  for (let at = 0; at + 5 <= body.length; ) {
    const length = body.readUInt32BE(at + 1);
    if (body.readUInt8(at) & flag) found = body.subarray(at + 5, at + 5 + length);
    at += 5 + length;
  }
  return found;
}

function headersIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
  );
}
