/**
 * The statements of the source as they are sent: the templates of `tx`, with the pieces they are put
 * together from, and the row that each says it answers. docs/decisions/0161.
 *
 * The compiler reads the source. A piece (`tx.part`) is followed through constants, functions, arguments and, where
 * a function is given one, its callers. Where the program decides (a condition, several `return`, several callers),
 * every way is taken: first the first of each, then each other one once. What is decided twice by the same words in
 * the same function is decided alike. What cannot be followed is answered as unread, with the words that stopped it.
 */
import { relative } from 'node:path'
import type {
  ConditionalExpression,
  Expression,
  FunctionLikeDeclaration,
  Node,
  SourceFile,
  TemplateLiteral,
} from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isFunctionLikeDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isNonNullExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isSpreadElement,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast'
import { type Checker, type Project, SymbolFlags, type Symbol as TsSymbol, type Type } from 'typescript/unstable/sync'
import { declaredType, isPart, type RowShape, rowShapeOf } from './row-shape.ts'
import { root } from './source.ts'

/** Text, or a value: with the type that the driver declares for it, or none where the server decides. */
export type Piece = string | { readonly declared: DeclaredType | undefined }
export type DeclaredType = 'bool' | 'bytea' | 'timestamptz' | 'jsonb'

export interface WrittenStatement {
  /** `path:line`, from the project's root. */
  readonly where: string
  /** The function that it stands in, by which lists name it: files move. */
  readonly of: string
  /** Each way it can be put together. */
  readonly ways: readonly (readonly Piece[])[]
  /** The words that could not be followed, if any. */
  readonly unread: readonly string[]
  /** Undefined where the statement names no row: then nobody reads a column. */
  readonly row: RowShape | undefined
}

/** The statements of the project's files whose path from its root begins so. */
export function writtenStatements(project: Project, beginning: string): WrittenStatement[] {
  const files = project.program
    .getSourceFileNames()
    .filter((name) => relative(root, name).startsWith('src/') || relative(root, name).startsWith(beginning))
    .map((name) => project.program.getSourceFile(name)!)
  const reader = new Reader(project.checker, files)
  return files
    .filter(({ fileName }) => relative(root, fileName).startsWith(beginning))
    .flatMap((file) => reader.statementsOf(file))
}

/** What the names of a function stand for at one call of it, and how the program decides. */
interface Scope {
  readonly bound: Map<number, Bound>
  readonly decide: (question: string, answers: number) => number
}

/** An expression, and where its own names are found. */
interface Meant {
  readonly expression: Expression
  readonly scope: Scope
}

type Bound = Meant | { readonly pieces: readonly Piece[] }

/** The decisions that were taken do not come together: there is no such way. */
class Nowhere extends Error {}

class Unread extends Error {
  readonly words: string
  constructor(node: Node) {
    super('cannot be followed')
    this.words = node.getText().replace(/\s+/g, ' ')
  }
}

class Reader {
  readonly checker: Checker
  readonly files: readonly SourceFile[]
  /** Calls by the name of what is called. */
  readonly calls: ReadonlyMap<string, readonly Call[]>
  readonly types = new Map<Node, Type>()

  constructor(checker: Checker, files: readonly SourceFile[]) {
    this.checker = checker
    this.files = files
    this.calls = Map.groupBy(
      files.flatMap((file) => nodesOf(file, isCallExpression)),
      ({ expression }) => (isIdentifier(expression) ? expression.text : ''),
    )
  }

  statementsOf(file: SourceFile): WrittenStatement[] {
    const tagged = nodesOf(file, isTaggedTemplateExpression)
    const inserted = tagged.flatMap(({ template }) =>
      isTemplateExpression(template) ? template.templateSpans.map(({ expression }) => expression) : [],
    )
    this.learnTypes([...tagged, ...inserted])
    const templates = tagged.flatMap((node) => {
      const type = this.typeOf(node)
      if (type === undefined || isPart(type)) return []
      const row = rowShapeOf(this.checker, type)
      return [{ node, row, read: (scope: Scope) => this.template(node.template, scope) }]
    })
    const texts = nodesOf(file, isCallExpression).flatMap((node) => {
      const method = isPropertyAccessExpression(node.expression) ? node.expression : undefined
      if (!method || !['text', 'copyOut'].includes(method.name.text) || this.nameOfType(method.expression) !== 'Tx')
        return []
      const type = this.checker.getTypeAtLocation(node)
      const row = type && rowShapeOf(this.checker, type)
      return [{ node, row, read: () => [this.constant(node.arguments[0]!)] }]
    })
    return [...templates, ...texts].map(({ node, row, read }) => ({
      where: `${relative(root, file.fileName)}:${lineOf(file, node)}`,
      of: nameAround(node),
      row,
      ...everyWay(read),
    }))
  }

  /** One question to the compiler, which is another process. */
  private learnTypes(nodes: readonly Node[]): void {
    for (const [index, type] of this.checker.getTypeAtLocation(nodes).entries()) {
      const node = nodes[index]
      if (node && type) this.types.set(node, type)
    }
  }

  private typeOf(node: Node): Type | undefined {
    return this.types.get(node) ?? this.checker.getTypeAtLocation(node)
  }

  private nameOfType(expression: Expression): string | undefined {
    return this.checker.getTypeAtLocation(expression)?.getSymbol()?.name
  }

  private template(template: TemplateLiteral, scope: Scope): readonly Piece[] {
    if (!isTemplateExpression(template)) return [template.text]
    return [
      template.head.text,
      ...template.templateSpans.flatMap(({ expression, literal }) => [
        ...this.inserted(expression, scope),
        literal.text,
      ]),
    ]
  }

  private inserted(expression: Expression, scope: Scope): readonly Piece[] {
    const type = this.typeOf(expression)
    if (type === undefined) throw new Unread(expression)
    return isPart(type) ? this.part(expression, scope) : [{ declared: declaredType(type) }]
  }

  /** What an expression is that answers a piece. */
  private part(wrapped: Expression, scope: Scope): readonly Piece[] {
    const expression = bare(wrapped)
    if (isTaggedTemplateExpression(expression)) return this.template(expression.template, scope)
    if (isCallExpression(expression)) return this.call(expression, scope)
    if (isConditionalExpression(expression)) return this.inserted(chosen(expression, scope), scope)
    if (!isIdentifier(expression)) throw new Unread(expression)
    const meant = this.meaning(expression, scope)
    return 'pieces' in meant ? meant.pieces : this.part(meant.expression, meant.scope)
  }

  /** What a name stands for. */
  private meaning(name: Expression, scope: Scope): Bound {
    const symbol = this.symbolOf(name)
    const given = symbol && scope.bound.get(symbol.id)
    if (given) return given
    const declaration = symbol?.valueDeclaration?.resolve()
    if (declaration && isVariableDeclaration(declaration) && declaration.initializer && isIdentifier(declaration.name))
      return { expression: declaration.initializer, scope }
    const parameter = declaration && parameterOf(declaration)
    if (!symbol || !parameter || !isFunctionLikeDeclaration(parameter.parent)) throw new Unread(name)
    const around = parameter.parent
    const mapped = mappedList(around)
    if (mapped) return oneOf(this.elements(mapped, scope), `elements at ${placeOf(around)}`, scope)
    // An argument of the function that the statement stands in: whatever its callers give it.
    const calls = this.callsOf(around)
    if (calls.length === 0) throw new Unread(name)
    const call = oneOf(calls, `callers of ${placeOf(around)}`, scope)
    this.bind(around, call, { bound: new Map(), decide: scope.decide }, scope)
    const found = scope.bound.get(symbol.id)
    if (!found) throw new Unread(name)
    return found
  }

  private call(call: Call, scope: Scope): readonly Piece[] {
    const { expression: callee } = call
    if (isPropertyAccessExpression(callee)) {
      switch (callee.name.text) {
        case 'json':
          return [{ declared: 'jsonb' }]
        case 'list':
          return ['(', { declared: undefined }, ')']
        case 'rows':
          return rowsOf(call)
        case 'reduce':
          return this.reduced(call, callee.expression, scope)
      }
    }
    const { expression, scope: inner } = this.answerOf(call, scope)
    return this.part(expression, inner)
  }

  /** What a called function answers. */
  private answerOf(call: Call, scope: Scope): Meant {
    const called = this.functionOf(call.expression)
    if (!called?.body) throw new Unread(call)
    const inner: Scope = { bound: new Map(scope.bound), decide: scope.decide }
    this.bind(called, call, scope, inner)
    if (!isBlock(called.body)) return { expression: called.body as Expression, scope: inner }
    const returned = nodesOf(called.body, isReturnStatement).filter((node) => functionAround(node) === called)
    const { expression } = oneOf(returned, `returns of ${placeOf(called)}`, scope)
    if (!expression) throw new Unread(call)
    return { expression, scope: inner }
  }

  /** `list.reduce((all, one) => …, first)`, written out. */
  private reduced(call: Call, list: Expression, scope: Scope): readonly Piece[] {
    const [reducer, first] = call.arguments
    const [all, one] = reducer && isArrowFunction(reducer) ? reducer.parameters : []
    if (!reducer || !isArrowFunction(reducer) || isBlock(reducer.body) || !all || !one || !first) throw new Unread(call)
    const { body } = reducer
    return this.elements(list, scope).reduce(
      (pieces, element) => {
        const inner: Scope = { bound: new Map(scope.bound), decide: scope.decide }
        this.bindName(all.name, { pieces }, inner)
        this.bindName(one.name, element, inner)
        return this.part(body as Expression, inner)
      },
      this.part(first, scope),
    )
  }

  /** The elements of a list that is written out or put together of such. */
  private elements(wrapped: Expression, scope: Scope): readonly Bound[] {
    const list = bare(wrapped)
    if (isArrayLiteralExpression(list))
      return list.elements.flatMap((element) =>
        isSpreadElement(element) ? this.elements(element.expression, scope) : [{ expression: element, scope }],
      )
    if (isConditionalExpression(list)) return this.elements(chosen(list, scope), scope)
    if (isCallExpression(list)) {
      const [mapper] = list.arguments
      const mapped = mapper && mappedList(mapper)
      if (mapper && mapped && isArrowFunction(mapper) && !isBlock(mapper.body) && mapper.parameters[0]) {
        const { body, parameters } = mapper
        return this.elements(mapped, scope).map((element) => {
          const inner: Scope = { bound: new Map(scope.bound), decide: scope.decide }
          this.bindName(parameters[0]!.name, element, inner)
          return { expression: body as Expression, scope: inner }
        })
      }
      const { expression, scope: inner } = this.answerOf(list, scope)
      return this.elements(expression, inner)
    }
    const meant = isIdentifier(list) ? this.meaning(list, scope) : undefined
    if (!meant || 'pieces' in meant) throw new Unread(list)
    return this.elements(meant.expression, meant.scope)
  }

  /** Gives the parameters of a function the arguments of a call. */
  private bind(called: FunctionLikeDeclaration, { arguments: given }: Call, outer: Scope, inner: Scope): void {
    for (const [index, { name, initializer }] of called.parameters.entries()) {
      const expression = given[index] ?? initializer
      if (!expression) continue
      if (isIdentifier(name)) this.bindName(name, { expression, scope: outer }, inner)
      else if (isObjectBindingPattern(name)) {
        const object = bare(expression)
        if (!isObjectLiteralExpression(object)) continue
        for (const { name: element, propertyName } of name.elements) {
          if (!element || !isIdentifier(element)) continue
          const member = propertyName && isIdentifier(propertyName) ? propertyName.text : element.text
          const property = object.properties.find((one) => 'name' in one && one.name?.getText() === member)
          if (property && isPropertyAssignment(property))
            this.bindName(element, { expression: property.initializer, scope: outer }, inner)
          if (property && isShorthandPropertyAssignment(property))
            this.bindName(element, { expression: property.name as Expression, scope: outer }, inner)
        }
      }
    }
  }

  private bindName(name: Node, bound: Bound, inner: Scope): void {
    const symbol = this.checker.getSymbolAtLocation(name)
    if (symbol) inner.bound.set(symbol.id, bound)
  }

  private symbolOf(name: Expression): TsSymbol | undefined {
    const symbol = isShorthandPropertyAssignment(name.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.checker.getSymbolAtLocation(name)
    return symbol && symbol.flags & SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol
  }

  private functionOf(callee: Expression): FunctionLikeDeclaration | undefined {
    const declaration = this.symbolOf(callee)?.valueDeclaration?.resolve()
    if (!declaration) return undefined
    if (isFunctionDeclaration(declaration)) return declaration
    const value = isVariableDeclaration(declaration) && declaration.initializer && bare(declaration.initializer)
    return value && (isArrowFunction(value) || isFunctionExpression(value)) ? value : undefined
  }

  private callsOf(called: FunctionLikeDeclaration): readonly Call[] {
    const { parent } = called
    const name = isFunctionDeclaration(called) ? called.name : isVariableDeclaration(parent) ? parent.name : undefined
    if (!name || !isIdentifier(name)) return []
    // A call of itself passes on what another caller gave.
    return (this.calls.get(name.text) ?? []).filter(
      (call) => this.functionOf(call.expression) === called && functionAround(call) !== called,
    )
  }

  /** A text that is written as it is, or put together of constants. */
  private constant(wrapped: Expression): string {
    const expression = bare(wrapped)
    if (isStringLiteral(expression) || isNoSubstitutionTemplateLiteral(expression)) return expression.text
    if (isTemplateExpression(expression)) {
      const { head, templateSpans } = expression
      return templateSpans.reduce(
        (before, span) => before + this.constant(span.expression) + span.literal.text,
        head.text,
      )
    }
    const declaration = isIdentifier(expression) ? this.symbolOf(expression)?.valueDeclaration?.resolve() : undefined
    if (declaration && isVariableDeclaration(declaration) && declaration.initializer)
      return this.constant(declaration.initializer)
    throw new Unread(expression)
  }
}

type Call = ReturnType<typeof asCall>
const asCall = (node: Node) => {
  if (!isCallExpression(node)) throw new Unread(node)
  return node
}

/** Reads a statement once for each answer to each question that the reading comes to. */
function everyWay(read: (scope: Scope) => readonly Piece[]): Pick<WrittenStatement, 'ways' | 'unread'> {
  const asked = new Set<string>()
  const waiting: ReadonlyMap<string, number>[] = [new Map()]
  const ways = new Map<string, readonly Piece[]>()
  const unread = new Set<string>()
  for (const answers of waiting) {
    const decide = (question: string, count: number) => {
      if (!asked.has(question)) {
        asked.add(question)
        for (let other = 1; other < count; other += 1) waiting.push(new Map([...answers, [question, other]]))
      }
      return answers.get(question) ?? 0
    }
    try {
      const pieces = read({ bound: new Map(), decide })
      ways.set(JSON.stringify(pieces), pieces)
    } catch (error) {
      if (error instanceof Unread) unread.add(error.words)
      else if (!(error instanceof Nowhere)) throw error
    }
  }
  return { ways: [...ways.values()], unread: [...unread] }
}

/** `("a", "b") values (…)`: one row of the columns that are named. */
function rowsOf(call: Call): Piece[] {
  const columns = call.arguments.slice(1).map((column) => {
    if (!isStringLiteral(column)) throw new Unread(column)
    return column.text
  })
  if (columns.length === 0) throw new Unread(call)
  const values = columns.flatMap((_, index): Piece[] => [index === 0 ? '' : ', ', { declared: undefined }])
  return [`(${columns.map((column) => `"${column}"`).join(', ')}) values (`, ...values, ')']
}

/** The branch that is taken. */
function chosen(conditional: ConditionalExpression, { decide }: Scope): Expression {
  const { condition, whenTrue, whenFalse } = conditional
  return decide(`${placeOf(functionAround(conditional))} ${condition.getText()}`, 2) === 0 ? whenTrue : whenFalse
}

function oneOf<One>(list: readonly One[], question: string, { decide }: Scope): One {
  const one = list[list.length < 2 ? 0 : decide(question, list.length)]
  if (one === undefined) throw new Nowhere()
  return one
}

/** The list that an arrow function is mapped over. */
function mappedList(mapper: Node): Expression | undefined {
  const { parent } = mapper
  const callee = isCallExpression(parent) && parent.arguments[0] === mapper ? parent.expression : undefined
  return callee && isPropertyAccessExpression(callee) && callee.name.text === 'map' ? callee.expression : undefined
}

function nodesOf<Found extends Node>(from: Node, isFound: (node: Node) => node is Found): Found[] {
  const found: Found[] = []
  const visit = (node: Node): void => {
    if (isFound(node)) found.push(node)
    node.forEachChild(visit)
  }
  visit(from)
  return found
}

function bare(expression: Expression): Expression {
  return isParenthesizedExpression(expression) || isAsExpression(expression) || isNonNullExpression(expression)
    ? bare(expression.expression)
    : expression
}

function functionAround(node: Node): Node {
  let around = node.parent
  while (around.parent && !isFunctionLikeDeclaration(around)) around = around.parent
  return around
}

/** The nearest function around that has a name, or the member that a nameless one stands behind. */
function nameAround(node: Node): string {
  const around = functionAround(node)
  if (!around.parent) return ''
  if (isFunctionDeclaration(around) || isMethodDeclaration(around)) return around.name?.getText() ?? ''
  const { parent } = around
  return isVariableDeclaration(parent) || isPropertyAssignment(parent) ? parent.name.getText() : nameAround(around)
}

function parameterOf(declaration: Node) {
  let node = declaration
  while (isBindingElement(node) || isObjectBindingPattern(node)) node = node.parent
  return isParameterDeclaration(node) ? node : undefined
}

const placeOf = (node: Node) => `${node.getSourceFile().fileName}:${node.pos}`
const lineOf = (file: SourceFile, node: Node) => file.text.slice(0, node.getStart()).split('\n').length
